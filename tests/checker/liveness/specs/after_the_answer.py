"""An answer before the question does not count.

0 is an answer, 1 a question, 2 the end. From 1 one goes to 2 and stays: the question is never
followed by an answer, although one came before. Two steps, then nothing happens.
"""

from statewalk import State, action, config, leads_to, require, violates


class S(State):
    at: int = 0


s = S()


@action(fair="weak")
def on() -> None:
    require(s.at < 2)
    s.at += 1


def question() -> bool:
    return s.at == 1


def answer() -> bool:
    return s.at == 0


def end() -> bool:
    return s.at == 2


answered = leads_to(question, answer)
ended = leads_to(question, end)

config("it", expect=violates("answered", length=2))
