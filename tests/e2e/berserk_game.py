"""Two unmodified berserk clients (PyPI) play knightmate on a Rulemate server.

    python3 -m venv v && v/bin/pip install berserk
    v/bin/python tests/e2e/berserk_game.py target/debug/rulemate

Ends with `berserk: ok`, or with an exception.
"""

import json
import random
import subprocess
import sys
import tempfile
import threading
import urllib.request

import berserk

PLIES = 40


def post(url, body):
    request = urllib.request.Request(url, data=json.dumps(body).encode())
    return json.load(urllib.request.urlopen(request))


def account(base, name):
    token = post(f"{base}/api/v1/accounts", {"name": name})["token"]
    return berserk.Client(berserk.TokenSession(token), base_url=base)


def legal(base, game):
    return json.load(urllib.request.urlopen(f"{base}/api/v1/games/{game}"))["legal"]


def play(base, client, game, side, seen, random_source):
    """Plays one side until the stream ends."""
    for event in client.board.stream_game_state(game):
        state = event["state"] if event["type"] == "gameFull" else event
        if event["type"] == "gameFull":
            assert event["variant"]["key"] == "knightmate", event
        seen.append(state["status"])
        moves = state["moves"].split()
        if state["status"] != "started" or len(moves) % 2 != side:
            continue
        if len(moves) >= PLIES:
            client.board.resign_game(game)
            continue
        options = legal(base, game)
        if len(moves) == 0:
            try:
                client.board.make_move(game, "e1e3")
                raise AssertionError("an illegal move was taken")
            except berserk.exceptions.ResponseError as error:
                assert error.status_code == 400, error
        if options:
            client.board.make_move(game, random_source.choice(options))


def main():
    store = tempfile.mkdtemp() + "/games.db"
    command = [sys.argv[1], "serve", "--listen", "127.0.0.1:0", "--store", store, "--log", "warn"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        base = server.stdout.readline().strip().rstrip("/")
        ann, ben = account(base, "ann"), account(base, "ben")
        assert ann.account.get()["id"] == "ann"
        challenge = ann.challenges.create("ben", rated=False, variant="knightmate", color="white", clock_limit=300, clock_increment=2)
        for event in ben.board.stream_incoming_events():
            if event["type"] == "challenge":
                assert event["challenge"]["id"] == challenge["id"], event
                ben.challenges.accept(challenge["id"])
            if event["type"] == "gameStart":
                game = event["game"]["id"]
                break
        seen = ([], [])
        sides = [threading.Thread(target=play, args=(base, client, game, side, seen[side], random.Random(side)))
                 for side, client in enumerate((ann, ben))]
        for side in sides:
            side.start()
        for side in sides:
            side.join(60)
            assert not side.is_alive(), "the stream of a finished game does not end"
        assert seen[0][-1] == seen[1][-1] != "started", seen
        pgn = urllib.request.urlopen(f"{base}/game/export/{game}").read().decode()
        assert '[Variant "knightmate"]' in pgn and '[White "ann"]' in pgn, pgn
        print(f"berserk: ok, ended by {seen[0][-1]} after {len(seen[0])} states")
    finally:
        server.terminate()
        server.wait()


main()
