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
import urllib.error
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


def around_the_game(base, ann, ben):
    """Open challenges, chat, titles and tokens, as programs that play expect them."""
    ann.account.upgrade_to_bot()
    assert ann.account.get()["title"] == "BOT" and ben.account.get()["title"] is None
    token = post(f"{base}/api/v1/accounts", {"name": "cleo"})["token"]
    tested = ann.oauth.test_tokens(token, "nonsense")
    assert tested[token]["userId"] == "cleo" and tested["nonsense"] is None, tested
    slow = ben.challenges.create_ai(level=1, color="black", days=2)
    stream = ben.board.stream_game_state(slow["id"])
    full = next(stream)
    assert (full["speed"], full["daysPerTurn"]) == ("correspondence", 2), full
    assert 0 <= 2 * 86_400_000 - full["state"]["btime"] < 60_000, full
    stream.close()
    against = ben.challenges.create_ai(level=1, color="white", variant="knightmate")
    assert against["source"] == "ai", against
    stream = ben.board.stream_game_state(against["id"])
    assert next(stream)["black"]["name"] == "Computer, level 1"
    ben.board.make_move(against["id"], "e2e4")
    while len((state := next(stream)).get("moves", "").split()) < 2:
        pass
    ben.board.resign_game(against["id"])
    made = ann.challenges.create_open(clock_limit=60, clock_increment=1, variant="knightmate")
    assert made["speed"] == "bullet" and made["variant"]["key"] == "knightmate", made
    for client, color in ((ann, "white"), (ben, "black")):
        client.challenges._r.post(f"/api/challenge/{made['id']}/accept", params={"color": color})
        assert [it["color"] for it in client.games.get_ongoing() if it["gameId"] == made["id"]] == [color]
    stream = ben.board.stream_game_state(made["id"])
    full = next(stream)
    assert full["white"]["title"] == "BOT" and full["speed"] == "bullet", full
    ann.board.post_message(made["id"], "good luck")
    said = next(stream)
    assert (said["type"], said["username"], said["text"]) == ("chatLine", "ann", "good luck"), said
    try:
        urllib.request.urlopen(f"{base}/api/nowhere")
        raise AssertionError("there is something at /api/nowhere")
    except urllib.error.HTTPError as error:
        assert "nothing at this address" in json.load(error)["error"]


def wait_for_end(client, game):
    """The stream of events tells the end of a game, too."""
    for event in client.board.stream_incoming_events():
        if event["type"] == "gameFinish" and event["game"]["id"] == game:
            return


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
        ends = threading.Thread(target=wait_for_end, args=(ann, game))
        ends.start()
        for side in sides:
            side.start()
        for side in sides:
            side.join(60)
            assert not side.is_alive(), "the stream of a finished game does not end"
        assert seen[0][-1] == seen[1][-1] != "started", seen
        ends.join(20)
        assert not ends.is_alive(), "no gameFinish on the stream of events"
        pgn = urllib.request.urlopen(f"{base}/game/export/{game}").read().decode()
        assert '[Variant "knightmate"]' in pgn and '[White "ann"]' in pgn, pgn
        around_the_game(base, ann, ben)
        print(f"berserk: ok, ended by {seen[0][-1]} after {len(seen[0])} states")
    finally:
        server.terminate()
        server.wait()


main()
