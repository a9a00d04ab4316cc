# stdout: global cycle
class Noisy:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print(self.name, end=" ", flush=True)
kept = Noisy("global")
cycle = Noisy("cycle")
cycle.itself = cycle
