# stdout: 200
import os, sqlite3
db = sqlite3.connect('shared.db', timeout=10)
db.execute('create table t(x)')
db.commit()
db.close()
for _ in range(4):
    if os.fork() == 0:
        mine = sqlite3.connect('shared.db', timeout=10, isolation_level=None)
        for i in range(50): mine.execute('insert into t values(?)', (i,))
        os._exit(0)
for _ in range(4): os.wait()
print(sqlite3.connect('shared.db').execute('select count(*) from t').fetchone()[0])
