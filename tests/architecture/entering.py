"""The table of which folder may import which. A folder that is let in enters with the folders
in it.

A row is for the files of a folder, and for folders in it without a row of their own; these may
always enter. Names are below the row's first folder; `Model` is what engines see of the language.
Files beside the folders (`dsl/loader.py`, `checker/api.py`) join them, and have no row.
"""

MODEL = (
    "dsl/declared",
    "dsl/errors",
    "dsl/files",
    "dsl/kinds",
    "dsl/model",
    "dsl/origins",
    "dsl/view",
)
ENTERS: dict[str, str] = {
    "checker/behaviours": (
        "Model dsl/loader dsl/state dsl/values contract engines library liveness "
        "machine native refinement states traces verdict"
    ),
    "checker/commands": (
        "Model dsl/caches dsl/fizz/convert dsl/inputs dsl/source dsl/words api behaviours compare "
        "contract diary engines explore graph induction library machine page refinement report "
        "runnable spark/session states traces verdict"
    ),
    "checker/commands/behaviours": (
        "Model api behaviours commands/arguments conform conforming contract "
        "graph machine report scenarios traces verdict"
    ),
    "checker/commands/traces": (
        "Model api behaviours commands/checking commands/elsewhere contract explore/expressions "
        "library machine page report states/json traces verdict"
    ),
    "checker/compare": (
        "Model dsl/values api behaviours contract library liveness machine refinement report "
        "states traces verdict"
    ),
    "checker/conform": (
        "Model dsl/source dsl/state dsl/values dsl/words contract engines machine states traces "
        "verdict"
    ),
    "checker/contract": "Model dsl/words machine",
    "checker/diary": "dsl/errors dsl/files library machine page traces verdict/exits",
    "checker/disk": "dsl/errors dsl/files dsl/model contract machine native quick",
    "checker/engines": "Model dsl/source dsl/state dsl/values contract machine states symmetry",
    "checker/explore": (
        "Model dsl/annotations dsl/binding dsl/state dsl/values behaviours contract engines "
        "machine page report states traces/trace verdict"
    ),
    "checker/graph": (
        "Model dsl/values contract engines machine native states traces/exports verdict"
    ),
    "checker/history": "dsl/errors",
    "checker/history/certify": "dsl/library history/clock history/data",
    "checker/history/collect": "history/errors history/formats machine",
    "checker/history/commands": (
        "Model dsl/binding dsl/library dsl/loader dsl/mutants dsl/operations dsl/state dsl/values "
        "behaviours commands/arguments contract history/certify history/collect history/data "
        "history/decide history/errors history/explain history/formats history/objects library "
        "machine report states traces verdict"
    ),
    "checker/history/decide": (
        "dsl/library history/certify history/clock history/data history/errors history/recorded"
    ),
    "checker/history/decide/kernels": "history/data machine",
    "checker/history/explain": "dsl/errors dsl/library history/clock history/data history/decide",
    "checker/history/formats": "dsl/files history/clock history/data history/errors",
    "checker/history/objects": (
        "Model dsl/loader dsl/state dsl/values conform/values engines history/clock "
        "history/errors history/formats library machine states verdict"
    ),
    "checker/induction": (
        "Model dsl/state dsl/values contract engines explore/expressions machine report states "
        "traces verdict"
    ),
    "checker/liveness": (
        "Model dsl/assemble dsl/state dsl/values contract engines machine native states verdict"
    ),
    "checker/machine": "dsl/caches dsl/errors dsl/files dsl/source",
    "checker/native": (
        "Model dsl/caches dsl/state dsl/values contract engines machine states symmetry"
    ),
    "checker/native/kernels": "machine",
    "checker/native/learn": "Model dsl/state dsl/values contract engines native/kernels",
    "checker/native/programs": (
        "Model dsl/binding dsl/lowering dsl/source dsl/state dsl/values dsl/words contract engines "
        "native/kernels native/learn"
    ),
    "checker/page": (
        "Model dsl/loader dsl/source dsl/values dsl/words behaviours compare contract machine "
        "report states traces verdict"
    ),
    "checker/refinement": (
        "Model dsl/state dsl/values contract engines liveness states traces verdict"
    ),
    "checker/report": (
        "Model dsl/values behaviours conform contract graph machine native scenarios states traces "
        "verdict"
    ),
    "checker/runnable": (
        "dsl/errors dsl/inputs dsl/source api diary library liveness/kernels machine page verdict"
    ),
    "checker/runnable/arrays": "",
    "checker/scenarios": "Model dsl/state dsl/values conform contract machine states",
    "checker/spark": "Model contract machine native",
    "checker/spark/driver": (
        "dsl/errors dsl/model contract disk/runs native spark/session spark/tasks"
    ),
    "checker/spark/session": "dsl/errors machine",
    "checker/spark/tasks": "dsl/errors dsl/files disk/runs machine native",
    "checker/states": "Model dsl/fizz/runtime dsl/flows dsl/state dsl/values",
    "checker/symmetry": "Model dsl/state dsl/values contract states",
    "checker/traces": "Model dsl/state dsl/values dsl/words contract machine states",
    "checker/traces/exports": (
        "Model dsl/state dsl/values dsl/words engines machine states traces/clauses traces/trace"
    ),
    "checker/verdict": (
        "Model dsl/loader dsl/lowering dsl/source dsl/state dsl/values contract engines machine "
        "states symmetry traces"
    ),
    "dsl/assemble": (
        "binding blocks declared errors flows kinds lowering model source state values view words"
    ),
    "dsl/blocks": "binding declared errors lowering source state values words",
    "dsl/fizz": "blocks errors mutants source",
    "dsl/fizz/rules": "blocks/tree errors fizz/names source state",
    "dsl/fizz/runtime": "binding declared errors flows state values view words",
    "dsl/fizz/text": "blocks caches declared errors files inputs source",
    "dsl/fizz/translate": "blocks errors fizz/names fizz/rules fizz/text source",
    "dsl/flows": "binding blocks errors lowering source state values view words",
    "dsl/library": "",
    "dsl/lowering": "binding declared errors model source state values words",
    "dsl/rules": "asking blocks declared errors source state values words",
    "dsl/source": "annotations binding declared errors files kinds model state values view words",
    "dsl/state": "binding declared errors values view",
    "dsl/values": "annotations binding errors",
    "dsl/words": "binding declared errors kinds state values view",
}
