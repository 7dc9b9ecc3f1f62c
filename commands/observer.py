"""``vlmrec observer``: the embedded baseline model."""

import click


@click.group()
def command() -> None:
    """The embedded baseline model: classical computer vision behind the API of a language model."""


@command.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8090, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Clips analysed at once.")
def serve(host: str, port: int, workers: int) -> None:
    """Serve the observer over HTTP until interrupted.

    \b
        vlmrec observer serve --port 8090
        curl http://127.0.0.1:8090/v1/models
    """
    from vlmrec.observer.serve import serve_app

    serve_app(host, port, workers=workers, ready=lambda url: click.echo(f"observer at {url}", err=True))
