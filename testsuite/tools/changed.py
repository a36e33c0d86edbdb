"""Which files differ from the last landing: of the planted faults, those in other files were found then.

    changed.py PATH...      exits with 1 if none of these files and folders differs

MUTANTS in the environment is `all`, or the commit to compare with.  Without it that is where this
branch left main; on main itself, as many commits back as a landing has at most.  Where git does not
know, every file counts as changed.
"""
import functools
import hashlib
import os
import subprocess
import sys

MOST_COMMITS = 20


def git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def last_landing(root):
    """A commit, or None."""
    head = git(root, "rev-parse", "HEAD")
    for main in "origin/main", "main":
        base = git(root, "merge-base", "HEAD", main)
        if base and base != head:
            return base
    return git(root, "rev-parse", f"HEAD~{MOST_COMMITS}")


def compared_with(root):
    """A commit, `all`, or None."""
    return os.environ.get("MUTANTS", "") or last_landing(root)


@functools.cache
def changed_files(root):
    """Paths from root; None: all."""
    since = compared_with(root)
    if since == "all":
        return None
    names = since and git(root, "diff", "--relative", "--name-only", since)
    return None if names is None else set(names.split("\n"))


def drawn(root, items, most, key=str):
    """Up to `most` of the items, which the commit draws by their keys; all of them for MUTANTS=all."""
    if compared_with(root) == "all":
        return items
    commit = git(root, "rev-parse", "HEAD") or ""
    return sorted(items, key=lambda item: hashlib.sha256((commit + key(item)).encode()).digest()
                  )[:most]


def has_changed(root, *paths):
    """True if one of these files has changed, or a file in one that is a folder."""
    changed = changed_files(os.path.realpath(root))
    return changed is None or any(name == path or name.startswith(path + "/")
                                  for name in changed for path in paths)


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.exit(not has_changed(git(here, "rev-parse", "--show-toplevel") or here, *sys.argv[1:]))
