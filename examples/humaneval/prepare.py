#!/usr/bin/env python3
"""Turns the HumanEval problems with recorded answers into a batch and its answers.

    prepare.py HUMANEVAL.jsonl DIRECTORY

writes DIRECTORY/jobs.jsonl, for `callgate batch`, and DIRECTORY/answers.jsonl, for `callgate up --answers`. A line of the
input has task_id, prompt, entry_point, test and attempts, each with the code of a whole module; the answers are played in
that order, as a model would give them: a fenced block.
"""
import json
import pathlib
import sys


def main(source, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    count = 0
    with open(source, encoding="utf-8") as problems, \
            open(directory / "jobs.jsonl", "w", encoding="utf-8") as jobs, \
            open(directory / "answers.jsonl", "w", encoding="utf-8") as answers:
        for line in problems:
            problem = json.loads(line)
            job = {
                "prompt": problem["prompt"],
                "language": "python",
                "tools": [],
                "contract": {"entrypoint": {"name": problem["entry_point"]}, "tests": problem["test"]},
                "limits": {"attempts": 4},
            }
            print(json.dumps({"custom_id": problem["task_id"], "job": job}), file=jobs)
            played = ["```python\n" + attempt["code"] + "\n```" for attempt in problem["attempts"]]
            print(json.dumps({"match": problem["prompt"], "answers": played}), file=answers)
            count += 1
    print(f"{count} problems")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
