#!/usr/bin/env python3
"""Compares a batch's results with what the data says of each problem.

    check.py HUMANEVAL.jsonl RESULTS.jsonl

A problem whose n-th recorded answer is the first that passes must have completed after n answers; one without such an
answer must have failed, as tests_failed or, where the same program came again, no_progress. Exit status 1 when one differs.
"""
import collections
import json
import sys


def main(source, results):
    with open(results, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    got = {r["custom_id"]: r for r in lines}
    wrong = ["the results name a problem twice"] if len(got) != len(lines) else []
    counts = collections.Counter()
    with open(source, encoding="utf-8") as f:
        for line in f:
            problem = json.loads(line)
            name, want, r = problem["task_id"], problem["first_passing_attempt"], got.pop(problem["task_id"], None)
            if r is None:
                wrong.append(f"{name}: no result")
            elif want is not None and (r["state"], r["attempts"]) != ("completed", want):
                wrong.append(f"{name}: {r['state']} after {r['attempts']} answers, expected completed after {want}: {r['error']}")
            elif want is None and (r["state"] != "failed" or r["error"]["class"] not in ("tests_failed", "no_progress")):
                wrong.append(f"{name}: {r['state']} {r['error']}, expected failed with tests_failed or no_progress")
            else:
                counts[f"completed after {want} answers" if want else r["error"]["class"]] += 1
    wrong += [f"{name}: not a problem of the data" for name in got]
    for what, count in sorted(counts.items()):
        print(f"{count:5}  {what}")
    print(f"{sum(counts.values()):5}  as the data says, {len(wrong)} not")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
