"""Processes, folders and errors of the rig."""
import os
import signal
import subprocess
import threading
import time

from programs import Stopwatch

PROJECT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))
ADD_ON = os.path.join(PROJECT, "deploy", "home-assistant", "jacquard2mqtt")


class Failure(Exception):
    """A check that failed."""


def require(condition, text):
    if not condition:
        raise Failure(text)


def read(*path):
    with open(os.path.join(PROJECT, *path), encoding="utf-8") as file:
        return file.read()


class Process:
    """A running program and everything that it has printed."""

    def __init__(self, rig, name, command, **options):
        self.rig, self.name, self.lines = rig, name, []
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if self.rig.transcript:
                print(f"    {self.name:10} {line}", end="", flush=True)

    @property
    def text(self):
        return "\n".join(self.lines)

    def prints(self, text, seconds=20):
        """Waits for a line that contains a text, and returns it."""
        watch = Stopwatch()
        while True:
            for line in list(self.lines):
                if text in line:
                    return line
            if watch.seconds() > seconds or (self.process.poll() is not None and not self.reader.is_alive()):
                raise Failure(f"{self.name} does not print {text!r} but: {self.text[-2000:]}")
            time.sleep(0.02)

    def ends(self, seconds=10):
        """Waits for the end, and returns the exit status."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} does not end: {self.text[-2000:]}") from None
        self.reader.join(5)
        return status

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(8)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(5)


class Rig:
    """A folder and the programs that a case has started."""

    def __init__(self, folder, programs, transcript):
        self.folder, self.programs, self.transcript = folder, programs, transcript
        self.started = []
        os.chmod(folder, 0o755)

    def program(self, name):
        return os.path.join(self.programs, name)

    def start(self, name, command, **options):
        process = Process(self, name, command, **options)
        self.started.append(process)
        return process

    def say(self, text):
        if self.transcript:
            print(f"  {text}", flush=True)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def stop(self):
        for process in reversed(self.started):
            process.stop()
        self.started = []
