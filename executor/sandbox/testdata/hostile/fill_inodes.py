# class: disk_limit
# limits: {"disk_files": 200}
for i in range(1000):
    open(f"f{i}", "w").close()
