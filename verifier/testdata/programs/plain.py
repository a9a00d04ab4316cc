"""Nothing to say about this one."""
from __future__ import annotations

import math


class Circle:
    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    @property
    def area(self) -> float:
        return math.pi * self.radius**2


async def solve(data: list[int], /, key=None, *, reverse: bool = False, **options) -> dict[str, int]:
    return {str(i): x for i, x in enumerate(sorted(data, key=key, reverse=reverse))}


if __name__ == "__main__":
    print(Circle().area)
