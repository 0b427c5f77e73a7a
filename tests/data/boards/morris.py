#!/usr/bin/env python3
"""Counts Nine Men's Morris by itself: arrays of points, positions copied, nothing of Rulemate's.

Rules: nine men each are put down in turn, then go along lines to the next point; a side with three men may go to
any point. Whoever completes a row of three takes an enemy man, which stands in no row of three unless all do; that
is an action of its own, as it is in rules/games/nine-mens-morris.dl. Nobody moves with fewer than three men.

Prints `FEN ; D1 n ; D2 n ...` for the positions below: `python3 morris.py > morris.perft`.
"""

POINTS = ("a1 d1 g1 b2 d2 f2 c3 d3 e3 a4 b4 c4 e4 f4 g4 c5 d5 e5 b6 d6 f6 a7 d7 g7").split()
ROWS = []
for left, right, low, high in (("a", "g", 1, 7), ("b", "f", 2, 6), ("c", "e", 3, 5)):
    for rank in (low, high):
        ROWS.append((f"{left}{rank}", f"d{rank}", f"{right}{rank}"))
    for file in (left, right):
        ROWS.append((f"{file}{low}", f"{file}4", f"{file}{high}"))
ROWS += [("a4", "b4", "c4"), ("e4", "f4", "g4"), ("d1", "d2", "d3"), ("d5", "d6", "d7")]
NEXT = {point: set() for point in POINTS}
for row in ROWS:
    for one, other in ((row[0], row[1]), (row[1], row[2])):
        NEXT[one].add(other)
        NEXT[other].add(one)
OF = {point: [row for row in ROWS if point in row] for point in POINTS}


def closed(men, point):
    return any(all(men.get(it) == men[point] for it in row) for row in OF[point])


def moves(men, side, left, milled):
    """Each as (men, left, whether the side takes a man next)."""
    own = [it for it in POINTS if men.get(it) == side]
    free = [it for it in POINTS if it not in men]
    found = []
    if milled:
        foes = [it for it in POINTS if men.get(it) == 1 - side]
        loose = [it for it in foes if not closed(men, it)]
        for point in loose or foes:
            after = dict(men)
            del after[point]
            found.append((after, left, False))
        return found
    if left[side] > 0:
        for point in free:
            after = dict(men)
            after[point] = side
            rest = list(left)
            rest[side] -= 1
            found.append((after, tuple(rest), closed(after, point)))
        return found
    if len(own) < 3:
        return []
    for start in own:
        for point in free if len(own) == 3 else [it for it in free if it in NEXT[start]]:
            after = dict(men)
            del after[start]
            after[point] = side
            found.append((after, left, closed(after, point)))
    return found


def perft(men, side, left, milled, depth):
    if depth == 0:
        return 1
    return sum(
        perft(after, side if again else 1 - side, rest, again, depth - 1)
        for after, rest, again in moves(men, side, left, milled)
    )


def read(fen):
    board, turn, _, left, *milled = fen.split()
    men = {}
    for word in board.split(",") if board != "-" else []:
        point, letter = word.split(":")
        men[point] = 0 if letter == "M" else 1
    first, *named = left.removeprefix("left=").split(",")
    counts = [int(first), int(first)]
    for word in named:
        side, count = word.split(":")
        counts[["white", "black"].index(side)] = int(count)
    return men, 0 if turn == "w" else 1, tuple(counts), milled == ["milled=true"]


POSITIONS = [
    ("- w 1 left=9", 4),
    ("a1:M,d1:M,b2:m,f2:m,a4:M,e4:m w 4 left=6", 3),
    ("a1:M,d1:M,g1:M,b2:m,d2:m,f2:m,a4:M,e4:m b 5 left=4,black:5 milled=true", 3),
    ("a1:M,d1:M,g1:M,b2:m,d2:m,f2:m b 5 left=6 milled=true", 3),
    ("a1:M,d1:M,b2:m,f2:M,c3:m,a4:M,e4:m,g4:M,c5:m,d5:M,b6:m,d6:M,f6:m,g7:m w 10 left=0", 4),
    ("a1:M,d1:M,g4:M,b2:m,d2:m,e4:m,a7:m,d7:m w 20 left=0", 3),
    ("a1:M,d1:M,g4:M,b2:m,d2:m,e4:m w 30 left=0", 3),
    ("a1:M,d1:M,g4:M,b2:m,d2:m b 30 left=0", 2),
]

if __name__ == "__main__":
    for fen, depth in POSITIONS:
        men, side, left, milled = read(fen)
        board, rest = fen.split(" ", 1)
        words = sorted(board.split(","), key=lambda it: POINTS.index(it[:2])) if men else [board]
        fen = ",".join(words) + " " + rest
        counts = [perft(men, side, left, milled, it) for it in range(1, depth + 1)]
        print(" ; ".join([fen] + [f"D{at} {count}" for at, count in enumerate(counts, 1)]))
