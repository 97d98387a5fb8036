"""Takes a table away from an SQLite file that others have open, and gives it back.

``python -m tests.healthy.lost_table FILE TABLE lose|find``
"""

import sqlite3
import sys


def main(file, table, what):
    lost = f"{table}_lost"
    old, new = (table, lost) if what == "lose" else (lost, table)
    connection = sqlite3.connect(file, timeout=60)
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (old,)).fetchone():
        connection.execute(f"ALTER TABLE {old} RENAME TO {new}")
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
