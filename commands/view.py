"""``vlmrec view``: runs side by side beside the video, as one HTML page or served."""

from pathlib import Path

import click

from vlmrec.commands._options import any_runs_argument, clips_option, json_option, optional_gold_option, store_option


@click.command()
@any_runs_argument
@store_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write the page. [default: view.html]",
)
@optional_gold_option
@click.option(
    "--clips-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the clips' files are; they are found by their bytes.",
)
@clips_option
@click.option("--language", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Of the interface.")
@click.option("--embed-videos", is_flag=True, help="Put small copies of the videos into the page.")
@click.option("--no-messages", is_flag=True, help="Leave whole requests and replies out of the page.")
@click.option("--serve", is_flag=True, help="Serve the page, live and with labels, until interrupted.")
@click.option(
    "--export-labels",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the store's labels as gold files, on top of --gold, and end.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port for --serve. [default: a free one]")
@json_option
def command(
    runs: tuple[Path, ...],
    store: Path,
    output: Path | None,
    gold: Path | None,
    clips_dir: Path | None,
    clips: Path | None,
    language: str,
    embed_videos: bool,
    no_messages: bool,
    serve: bool,
    export_labels: Path | None,
    port: int | None,
    as_json: bool,
) -> None:
    """See runs side by side beside the video, as one HTML page or served with labels.

    With --json it says what was written, or where it is served.

    \b
        vlmrec view first second --gold clips/gold --clips-dir clips -o view.html
        vlmrec view first --clips-dir clips --serve
    """
    from typing import cast

    from vlmrec.commands._output import note, print_json, warn
    from vlmrec.question import Language
    from vlmrec.report.logs import read_clip_set
    from vlmrec.viewer.view import check_output, write_view

    if export_labels is not None:
        from vlmrec.viewer.label_log import export_labels as export

        paths = [str(path) for path in export(store, export_labels, gold)]
        if as_json:
            return print_json({"labels": paths})
        return click.echo("".join(f"{path}\n" for path in paths), nl=False)
    only = read_clip_set(clips, runs or None)
    words = cast(Language, language)
    if serve:
        from datetime import UTC, datetime
        from uuid import uuid4

        from vlmrec.viewer import server

        return server.serve(
            runs,
            store=store,
            gold=gold,
            clips_dir=clips_dir,
            clips=only,
            language=words,
            port=port,
            now=lambda: datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z",
            new_uuid=lambda: str(uuid4()),
            ready=lambda url: print_json({"url": url}) if as_json else click.echo(url),
        )
    if not runs:
        raise click.UsageError("name at least one run (only --serve works without, to label clips)")
    target = output or Path("view.html")
    check_output(target, runs)
    done = write_view(
        runs,
        target,
        gold=gold,
        clips_dir=clips_dir,
        clips=only,
        language=words,
        embed_videos=embed_videos,
        with_messages=not no_messages,
    )
    for problem in done.problems:
        warn(problem)
    if done.without_video:
        warn(
            f"{len(done.without_video)} clips without video ({', '.join(done.without_video[:5])} …); --clips-dir says where"
        )
    note(f"{done.clips} clips of {len(runs)} runs, {done.size / 1e6:.1f} MB")
    if as_json:
        return print_json({"runs": [run.stem for run in runs], **done._asdict(), "path": str(done.path)})
    return click.echo(str(done.path))
