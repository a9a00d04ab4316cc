# class: cpu_timeout
# limits: {"cpu_ms": 500, "wall_ms": 20000}
import resource
resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
while True: pass
