"""Writes qoblib.csv from a clone of QOBLIB (github.com/ZIB-AOPT/QOBLIB), and with a second folder the problems as files to measure.

    python3 qoblib.py CLONE [FOLDER] > qoblib.csv

The columns are an instance's name, class, the best known objective of its binary quadratic program, and values and seconds of the submissions of ABS2 and Gurobi.
ABS2's seconds are its time to the value. Gurobi solved other models of the same instances: integer programs, whose seconds are of the whole run.
"""

import csv
import io
import os
import re
import subprocess
import sys

CLONE = sys.argv[1]
FOLDER = sys.argv[2] if len(sys.argv) > 2 else None
LARGEST = 34  # of LABS


def git(*words):
    return subprocess.run(["git", "-C", CLONE, *words], check=True, capture_output=True).stdout


def summaries(folder):
    """The one row of every summary below a folder, by the instance's name."""
    rows = {}
    for path in git("ls-tree", "-r", "--name-only", "HEAD", folder).decode().split():
        if path.endswith("_summary.csv"):
            text = git("show", f"HEAD:{path}").decode("utf-8-sig")
            row = next(csv.DictReader(io.StringIO(text)), None)
            if row:
                rows[os.path.basename(path).removesuffix("_summary.csv")] = row
    return rows


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def show(value):
    return "" if value is None else f"{value:g}" if value % 1 else str(int(value))


def known(name, abs2, gurobi):
    """The objective to reach: 0 of market splits, of the others the best of QOBLIB's solutions and submissions."""
    if name.startswith("ms_"):
        return 0.0
    values = [number(row.get("Best Objective Value")) for row in (abs2, gurobi)]
    if name.startswith("labs"):
        solution = re.search(r"^\| " + name + r" +\|[^|]*\| +(\d+)", git("show", "HEAD:02-labs/solutions/README.md").decode(), re.M)
        return float(solution[1])
    return min(-abs(v) for v in values if v is not None)  # ABS2's submissions give the value, their programs minimise its negative


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["name", "class", "known", "abs2_value", "abs2_seconds", "gurobi_value", "gurobi_seconds"])
    for class_, problems, abs2, gurobi in (
        ("labs", "02-labs/models/quadratic_unconstrained/qs_files", "02-labs/submissions/20250221_Abs2_Schicker", "02-labs/submissions/20241229_Gurobi_Schicker"),
        ("marketsplit", "01-marketsplit/models/binary_unconstrained/qs_files", "01-marketsplit/submissions/20241222_Abs2_Schicker", "01-marketsplit/submissions/20241224_Gurobi_Schicker"),
        ("portfolio", "06-portfolio/models/unconstrained_quadratic_optimization/qs_files", "06-portfolio/submissions/20250822_Abs2_Schicker", "06-portfolio/submissions/20250819_Gurobi_Schicker"),
    ):
        theirs, exact = summaries(abs2), summaries(gurobi)
        for path in sorted(git("ls-tree", "-r", "--name-only", "HEAD", problems).decode().split()):
            if not path.endswith(".qs.xz"):
                continue
            name = os.path.basename(path).removesuffix(".qs.xz").removeprefix("uqo_")
            if class_ == "portfolio":  # submissions write the weight as Python does
                begin, weight = name.rsplit("_l", 1)
                name = f"{begin}_l{float(weight)}"
            if class_ == "labs" and int(name[4:]) > LARGEST or name not in theirs:
                continue
            a, g = theirs[name], exact.get(name, {})
            values = [number(row.get("Best Objective Value")) for row in (a, g)]
            if class_ == "portfolio":
                values = [None if v is None else -abs(v) for v in values]
            out.writerow([name, class_, show(known(name, a, g)), show(values[0]), show(number(a["GPU Runtime"])), show(values[1]), show(number(g.get("Total Runtime")))])
            if FOLDER:
                with open(os.path.join(FOLDER, name + ".qs.xz"), "wb") as file:
                    file.write(git("show", f"HEAD:{path}"))


main()
