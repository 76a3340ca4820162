"""`recalld mcp`: the memory as an MCP server on stdin and stdout; agents run it."""

from __future__ import annotations

import argparse
import os

from .verb import Context, Verb, working_folder


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", metavar="PATH", help="the checkout to remember for (default: the current one)"
    )


def _mcp(context: Context, args: argparse.Namespace) -> int:
    # Before anything else is imported: whatever prints from here on prints to stderr.
    output = os.dup(1)
    os.dup2(2, 1)
    from ..bridge import stdio as bridge

    folder = os.path.abspath(args.folder) if args.folder else working_folder()
    bridge.run(
        context.layout,
        dict(context.environ),
        output=output,
        folder=folder,
        seconds=context.deadline.seconds,
    )


VERBS = {
    "mcp": Verb(
        _arguments,
        _mcp,
        "Serve the memory over MCP on stdin and stdout, until the agent closes them.",
        "recalld mcp --folder ~/work/app",
    )
}
