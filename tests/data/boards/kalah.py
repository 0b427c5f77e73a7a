"""Counts trees of Kalah by sowing seed by seed, to compare with `rules/games/kalah.dl`. Writes `kalah.perft`.

Places 0 to 5 are White's bowls (a1 to f1), 6 is White's store, 7 to 12 are Black's bowls (f2 to a2), 13 is Black's store.
"""

import functools
import random

STORES = (6, 13)
NAMES = [f"{file}1" for file in "abcdef"] + [None] + [f"{file}2" for file in "fedcba"] + [None]


def bowls(side):
    return range(7 * side, 7 * side + 6)


def is_over(board):
    return any(not any(board[it] for it in bowls(side)) for side in (0, 1))


def moves(board, side):
    return [] if is_over(board) else [it for it in bowls(side) if board[it]]


def sow(board, side, bowl):
    """The board after a bowl is sown, and the side to move then."""
    board, at = list(board), bowl
    hand, board[bowl] = board[bowl], 0
    while hand:
        at = (at + 1) % 14
        if at != STORES[1 - side]:
            board[at] += 1
            hand -= 1
    if at in bowls(side) and board[at] == 1 and board[12 - at]:
        board[STORES[side]] += 1 + board[12 - at]
        board[at] = board[12 - at] = 0
    return tuple(board), side if at == STORES[side] else 1 - side


@functools.cache
def perft(board, side, depth):
    if depth == 0:
        return 1
    return sum(perft(*sow(board, side, it), depth - 1) for it in moves(board, side))


def fen(board, side, number, parts):
    """As the rules write it: the most common number first, the least of several, then the others by their places."""
    def field(key, values):
        counts = [it for _, it in values]
        usual = min(counts, key=lambda it: (-counts.count(it), it))
        return ",".join([f"{key}={usual}"] + [f"{name}:{n}" for name, n in values if n != usual])

    squares = sorted((name[1], name[0], at) for at, name in enumerate(NAMES) if name)
    seeds = field("seeds", [(f + r, board[at]) for r, f, at in squares])
    store = field("store", [("white", board[6]), ("black", board[13])])
    turn = f" hm={parts}" if parts else ""
    return f"bbbbbb/BBBBBB {'wb'[side]} {number} {seeds} {store}{turn}"


def main():
    start = ((4,) * 6 + (0,)) * 2
    lines, dice = [(start, 0, 1, 0)], random.Random(3)
    for plies in (6, 12, 18, 24, 30, 36, 40):
        board, side, number, parts = start, 0, 1, 0
        for _ in range(plies):
            choices = moves(board, side)
            if not choices:
                break
            board, after = sow(board, side, dice.choice(choices))
            number, parts = number + (side == 1 and after == 0), parts + 1 if after == side else 0
            side = after
        lines.append((board, side, number, parts))
    # Sowing all around: the last seed comes back to its own bowl, or goes beyond it.
    for seeds in (12, 13, 14, 26):
        lines.append(((0, 0, seeds, 1, 0, 0, 5, 3, 0, 2, 0, 1, 0, 4), 0, 20, 0))
    for line in lines:
        counts = [f"D{depth} {perft(line[0], line[1], depth)}" for depth in range(1, 8)]
        print(" ; ".join([fen(*line)] + counts))


main()
