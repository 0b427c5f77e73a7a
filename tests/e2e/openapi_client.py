"""A client that is generated from /openapi.json plays a game on a Rulemate server.

    python3 -m venv v && v/bin/pip install openapi-spec-validator openapi-python-client
    v/bin/python tests/e2e/openapi_client.py target/debug/rulemate

The description is validated first. Ends with `openapi: ok`, or with an exception.
"""

import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

from openapi_spec_validator import validate

MOVES = ["f2f3", "e7e5", "g2g4", "d8h4"]


def generate(description, folder):
    """The client as a package in a folder, by the generator as people install it."""
    text = pathlib.Path(folder, "openapi.json")
    text.write_text(json.dumps(description))
    generator = pathlib.Path(sys.executable).with_name("openapi-python-client")
    into = pathlib.Path(folder, "rulemate_client")
    command = [generator, "generate", "--path", text, "--output-path", into, "--meta", "none"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, folder)


def call(name):
    """The function for an operation, whatever module it was put in."""
    for path in pathlib.Path(sys.path[0], "rulemate_client", "api").glob(f"*/{name}.py"):
        return importlib.import_module(f"rulemate_client.api.{path.parent.name}.{name}")
    raise LookupError(f"the client has no {name}")


def play(base):
    client = importlib.import_module("rulemate_client").Client(base_url=base)
    models = importlib.import_module("rulemate_client.models")
    body = models.NewGame.from_dict({"game": "chess", "seat": "both"})
    made = json.loads(call("create_game").sync_detailed(client=client, body=body).content)
    seat = importlib.import_module("rulemate_client").AuthenticatedClient(base, made["token"])
    for uci in MOVES:
        body = models.Moving.from_dict({"uci": uci})
        answer = call("play").sync_detailed(made["id"], client=seat, body=body)
        assert answer.status_code == 200, answer
    state = json.loads(call("state").sync_detailed(made["id"], client=client, lines=2).content)
    assert len(state["history"]) == 2, state["history"]
    assert state["result"]["reason"] == "checkmate", state["result"]
    pgn = call("export").sync_detailed(made["id"], client=client, format_="pgn")
    assert b"Qh4#" in pgn.content and "rulemate-" in pgn.headers["content-disposition"], pgn


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite://{folder}/games.db"
        command = [sys.argv[1], "serve", "--listen", "127.0.0.1:0", "--store", store, "--log", "error"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            base = server.stdout.readline().strip().rstrip("/")
            description = json.load(urllib.request.urlopen(f"{base}/openapi.json"))
            validate(description)
            names = [it["operationId"] for path in description["paths"].values() for it in path.values()]
            assert len(names) == len(set(names)), names
            generate(description, folder)
            play(base)
        finally:
            server.terminate()
            server.wait()
    print("openapi: ok")


main()
