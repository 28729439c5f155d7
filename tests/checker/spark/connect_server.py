"""A Spark Connect server on this machine, for tests: ``python connect_server.py PORT``.

It says when it is ready and ends when its standard input does.
"""

import sys

from statewalk.checker.spark.session.session import local_session

if __name__ == "__main__":
    session = local_session(
        "local[2]",
        {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": sys.argv[1],
        },
    )
    session.range(1).count()
    print("ready", flush=True)
    sys.stdin.read()
