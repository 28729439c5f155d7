"""The key-value store of the B-tree specification (tlaplus/Examples)."""

from statewalk import State, action, any_of, require

KEYS = ("A", "B", "C")
VALS = ("X", "Y", "Z")


class Store(State):
    op: str | None = None
    args: tuple[str, ...] | None = None
    ret: str | None = None
    state: str = "ready"
    held: dict[str, str] = dict.fromkeys(KEYS, "missing")

    def request(self, op: str, args: tuple[str, ...]) -> None:
        require(self.state == "ready")
        self.op, self.args, self.ret, self.state = op, args, None, "working"

    def answer(self, ret: str) -> None:
        self.ret, self.state = ret, "ready"

    @action
    def get_req(self, k: str = any_of(KEYS)) -> None:
        self.request("get", (k,))

    @action
    def get_resp(self) -> None:
        require(self.op == "get")
        self.answer(self.held[self.args[0]])

    @action
    def insert_req(self, k: str = any_of(KEYS), v: str = any_of(VALS)) -> None:
        self.request("insert", (k, v))

    @action
    def insert_resp(self) -> None:
        require(self.op == "insert" and self.state == "working")
        k, v = self.args
        absent = self.held[k] == "missing"
        if absent:
            self.held[k] = v
        self.answer("ok" if absent else "error")

    @action
    def update_req(self, k: str = any_of(KEYS), v: str = any_of(VALS)) -> None:
        self.request("update", (k, v))

    @action
    def update_resp(self) -> None:
        require(self.op == "update")
        k, v = self.args
        present = self.held[k] != "missing"
        if present:
            self.held[k] = v
        self.answer("ok" if present else "error")

    @action
    def delete_req(self, k: str = any_of(KEYS)) -> None:
        self.request("delete", (k,))

    @action
    def delete_resp(self) -> None:
        require(self.op == "delete")
        self.held[self.args[0]] = "missing"
        self.answer("ok")


store = Store()
