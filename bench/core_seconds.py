"""Processor time of a run on one core."""
import resource
import subprocess


def core_seconds(saltus, model, words, file):
    """User time in seconds of `saltus run` on one thread, and its output."""
    command = [saltus, "run", model, "-o", file, "--force", "--json", "--set", "run.threads=1", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # Lanes are not measured beside it, since that compiles.
    text = subprocess.run(command, capture_output=True, text=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, text.stdout


def settings(texts):
    """Entries of a spec as words of the command line."""
    return [word for text in texts for word in ("--set", text)]
