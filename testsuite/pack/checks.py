"""Expectations of the packer's checks: each fault is printed and kept."""
import subprocess

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)
        print(text)


def run(*command, status=0):
    """Runs a command, which must end with this status; returns what it prints."""
    result = subprocess.run([str(word) for word in command], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(result.returncode == status, f"{command}: status {result.returncode}: {result.stdout}")
    return result.stdout
