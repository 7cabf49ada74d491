"""The articles with commands that this rig does not follow."""
import re

from article import blocks
from machine import PROJECT, Failure

REASONS = {
    "Sources/Bridge/Bridge/Documentation.docc/MQTTTopics.md": "unit tests of the bridge read the examples",
    "Sources/Programs/Daemon/Documentation.docc/HomeAssistantOS.md": "the rig AddOn runs the add-on with a simulated supervisor",
    "Sources/Programs/Daemon/Documentation.docc/Performance.md": "the commands of the rig Benchmarks",
    "Sources/Programs/Daemon/Documentation.docc/Fleet.md": "the rig Fleet runs the brokers",
    "Sources/Programs/Daemon/Documentation.docc/RadioInEveryRoom.md": "the end-to-end tests have an SSH server and a simulated proxy",
    "Sources/Programs/Daemon/Documentation.docc/Replay.md": "the tests of the command replay send the requests",
    "Sources/Simulator/Simulator/Documentation.docc/UsingTheSimulator.md": "SimulatorTests send the commands",
}
COMMAND = re.compile(
    r"(?m)^(\$ )?(sudo|docker|podman|apt|deploy/|\./|Tests/|jacquard2mqtt|jacquard-simulator|mosquitto_|promtool|telegraf|curl|scp)")


def every_article_is_followed(followed):
    """Each article with commands is followed by a guide of this rig, or has a reason."""
    articles = ["README.md", *(str(path.relative_to(PROJECT)) for path in PROJECT.glob("Sources/*/*/Documentation.docc/*.md"))]
    for article in articles:
        text = (PROJECT / article).read_text(encoding="utf-8")
        if any(COMMAND.search(block.text) for block in blocks(text)) and article not in REASONS and article not in followed:
            raise Failure(f"{article} has commands and is not followed")
