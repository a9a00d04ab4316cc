# class: ok
# stdout: refused
import resource
through = []
for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_CPU):
    try: resource.setrlimit(r, (resource.RLIM_INFINITY,) * 2); through.append(r)
    except (ValueError, OSError): pass
print(through or "refused")
