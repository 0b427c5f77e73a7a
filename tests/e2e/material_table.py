"""Prints tests/data/golden/material-python-chess.txt: what python-chess says of material.

    pip install chess==1.11.2
    python tests/e2e/material_table.py > tests/data/golden/material-python-chess.txt

Positions are drawn with a fixed seed. Of chess: legal ones. Of antichess: both sides have pieces, and
the board has not one knight for each side and nothing else, of which python-chess tells by whose turn
it is who cannot win, and Rulemate says nothing.
"""

import random

import chess
import chess.variant

HEAD = """\
# What python-chess {version} says of material: variant, dead (no side can win), white cannot win, black
# cannot win, position. Made by tests/e2e/material_table.py; antichess is that of
# chess.variant.AntichessBoard, here the option opposite_bishops=draw."""

CHESS = ["", "N", "B", "BB", "NN", "NB", "BBB", "Q", "R", "P", "QN", "BR", "QQ", "BP"]
ANTICHESS = ["B", "BB", "BBB", "N", "NN", "R", "K", "P", "BN", "BP", "BK", "B", "B", "BB"]


def placed(board, letters, chance):
    board.clear()
    squares = chance.sample(range(8, 56), len(letters))
    for letter, square in zip(letters, squares):
        board.set_piece_at(square, chess.Piece.from_symbol(letter))
    board.turn = chance.random() < 0.5
    return board


def row(variant, board):
    judged = [board.is_insufficient_material()]
    judged += [board.has_insufficient_material(it) for it in (chess.WHITE, chess.BLACK)]
    return " ".join([variant, *(str(int(it)) for it in judged), board.fen()])


def main():
    chance = random.Random(12)
    print(HEAD.format(version=chess.__version__))
    rows = 0
    while rows < 400:
        letters = "Kk" + chance.choice(CHESS) + chance.choice(CHESS).lower()
        board = placed(chess.Board(), letters, chance)
        if board.is_valid():
            print(row("chess", board))
            rows += 1
    while rows < 700:
        letters = chance.choice(ANTICHESS) + chance.choice(ANTICHESS).lower()
        if sorted(letters) == ["N", "n"]:
            continue
        print(row("antichess", placed(chess.variant.AntichessBoard(), letters, chance)))
        rows += 1


main()
