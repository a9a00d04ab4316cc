# stdout: (3,)
# files: db.sqlite
import sqlite3
c = sqlite3.connect("db.sqlite"); c.execute("pragma journal_mode=wal"); c.execute("create table t(x)")
c.executemany("insert into t values(?)", [(1,), (2,), (3,)]); c.commit()
print(c.execute("select count(*) from t").fetchone()); c.close()
