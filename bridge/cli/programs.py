"""`mcp` and `demo`: programs of their own, loaded only when they are asked for."""

from collections.abc import Sequence

import click

from bridge.cli.options import PLACE, given_arguments

PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(context_settings=PASSED_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def mcp(context: click.Context, arguments: Sequence[str]) -> int:
    """Serve one MCP client on standard input and output.

    Takes the arguments of amfs-sqlite-mcp: `amfs-sqlite mcp --help` lists them.
    """
    from bridge.mcp_server.main import main

    return main([*given_arguments(context, *PLACE), *arguments])


@click.command(context_settings=PASSED_ON, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def demo(context: click.Context, arguments: Sequence[str]) -> int:
    """Watch two agents in two processes hand work over.

    On a temporary file, or on the one that --db names, which is made and kept.
    """
    from demo.__main__ import main

    return main([*given_arguments(context, "db"), *arguments], program=context.command_path)
