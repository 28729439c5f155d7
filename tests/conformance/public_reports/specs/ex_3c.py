"""A faulty mutual exclusion, one statement a step (nimble-code/Spin, Exercises/ex_3c)."""

from statewalk import Flow, Role, State, action


class G(State):
    cnt: int = 0
    x: int = 0
    y: int = 0
    z: int = 0


class User(Role):
    @action
    def run(self) -> Flow[None]:
        me = self.index + 1
        while True:
            g.x = me
            yield
            if g.y not in (0, me):
                yield
                continue
            yield
            g.z = me
            yield
            if g.x != me:
                yield
                continue
            yield
            g.y = me
            yield
            if g.z != me:
                yield
                continue
            yield
            g.cnt += 1
            yield
            assert g.cnt == 1
            yield
            g.cnt -= 1
            yield


g = G()
users = [User() for _ in range(2)]
