"""A clean Debian 12 that boots with systemd in a container, with a user who may use sudo."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parents[4]
USER = "ada"
HOME = pathlib.Path("/home", USER)
ENVIRONMENT = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "TERM=dumb"]
# The path of a user on Debian, who finds the programs of administrators only with sudo.
PATH = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
# The user's editor: it replaces the content of a file by the text that the rig has prepared.
EDITOR = '#!/bin/sh\nexec cat /run/typing > "$1"\n'


class Failure(Exception):
    """A step of a guide that does not work as written."""


class Impossible(Exception):
    """This machine cannot boot a container."""


def require(condition, text):
    if not condition:
        raise Failure(text)


class Machine:
    """The container. `say` receives everything that the user types and sees."""

    def __init__(self, clean, packages, say, options=()):
        self.say, self.clean, self.process = say, clean, None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="guides-"))
        self.root = self.folder / "root"
        subprocess.run(["cp", "-a", clean, self.root], check=True)
        (self.root / "usr/local/bin/editor").write_text(EDITOR)
        (self.root / "usr/local/bin/editor").chmod(0o755)
        (self.root / "etc/hostname").write_text("attic\n")
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 attic\n::1 localhost\n")
        # The user answers apt's questions with yes.
        (self.root / "etc/apt/apt.conf.d/yes").write_text('APT::Get::Assume-Yes "true";\n')
        self._copy_tree(packages)
        # Its own network: it does not meet the brokers of this machine.
        self.log = (self.folder / "boot.log").open("w")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--resolv-conf=replace-host",
             f"--machine=guides-{os.getpid()}", f"--directory={self.root}", *options, "--boot", "--console=pipe"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            self._boot()
            self.administer("apt-get update -q && apt-get install -y -q --no-install-recommends curl procps sudo", network=True)
            self.administer(f"useradd --create-home --shell /bin/bash --groups sudo --uid 1000 {USER}; "
                            f"chown -R {USER}: {HOME}; echo '{USER} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/{USER}")
        except BaseException:
            self.stop()
            raise

    def _copy_tree(self, packages):
        """The sources of the project, as a user has unpacked them, and the packages in his folder for downloads."""
        tree = self.root / HOME.relative_to("/") / "jacquard2mqtt"
        names = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, tree / name)
        for package in packages:
            shutil.copy(package, tree.parent)
            # Both packages have one version.
            self.version = os.path.basename(package).split("_")[1]

    def _boot(self):
        end = time.monotonic() + 120
        while True:
            if self.process.poll() is not None or time.monotonic() > end:
                raise Impossible((self.folder / "boot.log").read_text()[-500:])
            state = self._inside(["systemctl", "is-system-running"])
            if state and re.search("running|degraded", subprocess.run(state, capture_output=True, text=True).stdout):
                return
            time.sleep(0.2)

    def _inside(self, command, network=False):
        """The command line that runs a command in the container; None before it has a process. The container has no way out of its
        network, so a command that downloads runs in that of this machine."""
        try:
            leader = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0]
        except (OSError, IndexError):
            return None
        spaces = ["--mount", "--uts", "--ipc", "--pid", "--cgroup"] + ([] if network else ["--net"])
        return ["nsenter", "--target", leader, *spaces, *ENVIRONMENT, *command]

    def administer(self, script, network=False):
        """Prepares something as root that the guide does not describe; returns the output."""
        result = subprocess.run(
            self._inside(["DEBIAN_FRONTEND=noninteractive", "bash", "-c", script], network), capture_output=True, text=True)
        require(result.returncode == 0, f"{script}: {result.stdout}{result.stderr}")
        return result.stdout

    def write(self, path, text):
        """Writes a file as root."""
        subprocess.run(self._inside(["sh", "-c", f"cat > '{path}'"]), input=text, text=True, check=True)

    def fetches(self, command, folder):
        """Downloads what an `apt install` of the user needs, so that it needs no network."""
        self.administer(f"cd {folder} && apt-get update -q && {command} --download-only", network=True)

    def types(self, script, folder, network=False, terminal=False, seconds=300, watch=None):
        """Runs lines as the user in a folder, with a terminal or without. Returns exit status, output and the folder at the end.

        `watch` gets the output again and again, and the input of the programs. If it returns true, Ctrl-C stops the programs, and the
        status is 0."""
        self.write("/tmp/typed", f"trap 'pwd > /tmp/folder' EXIT\nset -e -o pipefail\n{script}\n")
        shell = "script -qec 'bash /tmp/typed' /dev/null" if terminal else "bash /tmp/typed"
        command = ["DEBIAN_FRONTEND=noninteractive", "runuser", "-u", USER, "--", "env", f"HOME={HOME}", f"USER={USER}", PATH,
                   "bash", "-c", f"cd '{folder}' && exec {shell}"]
        process = subprocess.Popen(
            self._inside(command, network), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            bufsize=1, errors="replace", start_new_session=True)
        output = []
        # What apt prints while it installs is long and always the same.
        reader = threading.Thread(target=self._read, args=(process, output, not network), daemon=True)
        reader.start()
        if not watch:
            process.stdin.close()
        end, found = time.monotonic() + seconds, False
        while process.poll() is None and not found and time.monotonic() < end:
            time.sleep(0.1)
            found = watch is not None and watch("".join(output), process.stdin)
        # Ctrl-C goes to every program of the terminal.
        for end_it in (signal.SIGINT, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, end_it)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
        reader.join(5)
        if found:
            return 0, "".join(output), folder
        return process.returncode, "".join(output), self.administer("cat /tmp/folder").strip()

    def _read(self, process, output, is_shown):
        for line in process.stdout:
            output.append(line)
            if is_shown:
                self.say(f"    {line.rstrip()}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
