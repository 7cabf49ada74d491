"""Linters of the workflows, the form for reports and compose.yaml. They need Python's package registry once."""
import glob
import os
import subprocess

from tools import PROJECT, require

RIG = os.path.join(PROJECT, "Tests", "Rigs", "AddOn")
# By the name that check-jsonschema has for them.
SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yaml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/*.yml",
    "vendor.compose-spec": "deploy/compose.yaml",
}


# The folder with the programs, and otherwise why there is none.
PROGRAMS, REASON = None, ""


def set_up():
    """Installs the linters. Call it before this process leaves the network."""
    global PROGRAMS, REASON
    setup = subprocess.run([os.path.join(RIG, "setup")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if setup.returncode == 0:
        PROGRAMS = setup.stdout.strip()
    else:
        REASON = setup.stderr.strip()


def run(name, *words):
    """Runs a linter, which has nothing to report; without the linters, says why it does not."""
    if not PROGRAMS:
        print(f"not checked: {REASON}")
        return
    result = subprocess.run(
        [os.path.join(PROGRAMS, name), *words], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    require(result.returncode == 0, f"{name} {' '.join(words)}:\n{result.stdout}")


def files_match_their_schemas(rig):
    """GitHub and Docker publish schemas of their files, which check-jsonschema contains."""
    for schema, pattern in SCHEMAS.items():
        files = sorted(glob.glob(pattern, root_dir=PROJECT))
        require(files, f"no {pattern}")
        run("check-jsonschema", "--builtin-schema", schema, *files)


def workflows_are_safe(rig):
    """zizmor finds no template that a tag's or a branch's name could break, no secret in a file, and no right that a job does not need."""
    run("zizmor", "--offline", "--quiet", "--no-progress", "--min-severity", "medium", "--config", os.path.join(RIG, "zizmor.yml"),
        ".github/workflows")


CASES = [files_match_their_schemas, workflows_are_safe]
