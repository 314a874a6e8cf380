"""Where the processes begin that a program of `run` spawns, such as a server's workers: with the adapter
registered. `multiprocessing` imports it in them as what the program itself began with.
"""

from amfs_sqlite.sync import register

register()
