// class: cpu_timeout
// limits: {"cpu_ms": 500}
for (;;) {}
