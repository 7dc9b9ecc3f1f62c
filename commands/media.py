"""``vlmrec media``: look at clips, take frames and parts out of them, and put them where a server can fetch them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vlmrec.commands._options import json_option

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


def store_options(function: Function) -> Function:
    """Where the bucket is, passed as ``bucket``, ``endpoint_url``, ``prefix``, ``region`` and ``expires``."""
    for option in (
        click.option("--expires", type=int, default=6 * 3600, show_default=True, help="Seconds that addresses last."),
        click.option("--region", envvar="VLMREC_S3_REGION", default="auto", show_default=True, show_envvar=True),
        click.option("--prefix", envvar="VLMREC_S3_PREFIX", default="media/", show_default=True, show_envvar=True),
        click.option("--endpoint-url", envvar="VLMREC_S3_ENDPOINT", show_envvar=True, help="The store; AWS if none."),
        click.option("--bucket", envvar="VLMREC_S3_BUCKET", required=True, show_envvar=True),
    ):
        function = option(function)
    return function


pixels_option = click.option("--max-pixels", type=click.IntRange(min=4), help="Scale each frame to at most so many.")


@click.group()
def command() -> None:
    """Probe clips, take frames and sub-clips out of them, and put them where a server can fetch them."""


@command.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@json_option
@click.pass_context
def probe(ctx: click.Context, files: tuple[Path, ...], as_json: bool) -> None:
    """Decode clips from start to end, and say what they are.

    Exits with 2, and the reason, where a file gives no frame; the others are printed all the same.
    With --json one file gives an object and several give an array in the order named, where a file
    without a frame has `file` and `error` alone.

    \b
        vlmrec media probe clip.mp4 --json
    """
    from vlmrec.commands._output import print_json

    rows = [_probed(file) for file in files]
    if as_json:
        print_json(rows[0] if len(rows) == 1 else rows)
    else:
        _print_probes([row for row in rows if "error" not in row])
    for row in rows:
        if "error" in row:
            click.echo(f"Error: {row['error']}", err=True)
    if any("error" in row for row in rows):
        ctx.exit(2)


@command.command()
@click.argument("file", type=FILE)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR")
@click.option("--sampling", default="frames-2fps", show_default=True, help="frames-8, or frames-4fps.")
@click.option("--window", nargs=2, metavar="START END", help="Only this part, in seconds of clip time.")
@click.option("--clock", is_flag=True, help="Burn the clip time into each picture.")
@pixels_option
@json_option
def frames(
    file: Path,
    out: Path,
    sampling: str,
    window: tuple[str, str] | None,
    max_pixels: int | None,
    clock: bool,
    as_json: bool,
) -> None:
    """Write a clip's frames as JPEG files, exactly as a model would be shown them.

    \b
        vlmrec media frames clip.mp4 --sampling frames-8 --out frames/
    """
    from vlmrec.commands._output import print_json, print_table
    from vlmrec.media.frames import write_frames
    from vlmrec.media.plan import plan_frames
    from vlmrec.media.probe import probe as probe_file
    from vlmrec.media.sampling import parse_sampling, parse_window

    part = None if window is None else parse_window(*window)
    plan = plan_frames(probe_file(file), parse_sampling(sampling), window=part, max_pixels=max_pixels, burn_clock=clock)
    written = write_frames(file, plan, out)
    if as_json:
        print_json({"frames": written, "plan": plan})
    else:
        print_table(["time s", "file", "bytes"], [(row.time_s, row.file, row.bytes) for row in written])


@command.command()
@click.argument("file", type=FILE)
@click.argument("start")
@click.argument("end")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE")
@click.option("--clock/--no-clock", default=True, show_default=True, help="Burn the clip time into each picture.")
@pixels_option
@json_option
def cut(file: Path, start: str, end: str, out: Path, max_pixels: int | None, clock: bool, as_json: bool) -> None:
    """Encode a part of a clip again, each picture with its clip time burnt in.

    START and END are seconds of clip time.

    \b
        vlmrec media cut clip.mp4 3.5 5.5 --out contact.mp4
    """
    from vlmrec.commands._output import note, print_json
    from vlmrec.media.probe import probe as probe_file
    from vlmrec.media.sampling import parse_window
    from vlmrec.media.video import plan_video, write_video

    plan = plan_video(probe_file(file), window=parse_window(start, end), max_pixels=max_pixels, burn_clock=clock)
    written = write_video(file, plan, out)
    if as_json:
        print_json({"video": written, "plan": plan})
    else:
        note(f"{written.file}: {written.frames} frames, {written.bytes} bytes")


@command.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@store_options
@json_option
def put(files: tuple[Path, ...], as_json: bool, **store: Any) -> None:
    """Upload clips to an S3-compatible store under their hash, unless they are there.

    What is no MP4, QuickTime or WebM file goes up as MP4. Keys come from AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY, or wherever else boto3 looks.

    \b
        vlmrec media put clip.mp4 --bucket clips --endpoint-url https://ACCOUNT.r2.cloudflarestorage.com
    """
    from vlmrec.commands._output import print_json, print_table
    from vlmrec.media.objects import ObjectStore, StoreSettings
    from vlmrec.media.upload import upload_clip

    objects = ObjectStore(StoreSettings.of(**store))
    rows = [upload_clip(file, objects) for file in files]
    if as_json:
        print_json(rows[0] if len(rows) == 1 else rows)
    else:
        print_table(
            ["file", "key", "sent"], [(row.file, row.key, "yes" if row.uploaded else "was there") for row in rows]
        )


@command.command()
@click.argument("file", type=FILE)
@store_options
@json_option
def url(file: Path, expires: int, as_json: bool, **store: Any) -> None:
    """Print an address by which anybody can fetch a clip until it expires; uploads it unless it is there.

    \b
        vlmrec media url clip.mp4 --bucket clips --expires 3600
    """
    import msgspec

    from vlmrec.commands._output import print_json
    from vlmrec.media.objects import ObjectStore, StoreSettings
    from vlmrec.media.upload import upload_clip

    objects = ObjectStore(StoreSettings.of(expires=expires, **store))
    upload = upload_clip(file, objects)
    address = objects.presign(upload.key).url
    if as_json:
        print_json({**msgspec.to_builtins(upload), "url": address, "expires_s": expires})
    else:
        click.echo(address)


def _probed(file: Path) -> dict[str, Any]:
    import msgspec

    from vlmrec.errors import MediaError
    from vlmrec.media.probe import probe as probe_file

    try:
        return {"file": str(file), **msgspec.to_builtins(probe_file(file).facts)}
    except MediaError as error:
        return {"file": str(file), "error": str(error)}


def _which_stream(row: dict[str, Any]) -> str:
    from vlmrec.media.facts import VideoStream

    streams = [VideoStream(**stream) for stream in row["video_streams"]]
    shown = next(stream for stream in streams if stream.index == row["stream_index"])
    others = ", ".join(str(stream) for stream in streams if stream is not shown)
    return (
        f"holds {len(streams)} video streams; {shown} is taken, as FFmpeg and model servers choose, and {others} is never "
        "shown: cut it out as a file of its own to have it seen"
    )


def _print_probes(rows: list[dict[str, Any]]) -> None:
    from vlmrec.commands._output import print_table, warn

    columns = ("file", "duration_s", "frames", "average_rate", "width", "height", "rotation", "codec", "truncated")
    cells = [[*(row[name] for name in columns), row["stream_index"], len(row["video_streams"])] for row in rows]
    print_table([*columns, "stream", "of video streams"], cells)
    for row in rows:
        if len(row["video_streams"]) > 1:
            warn(f"{row['file']}: {_which_stream(row)}")
        if row["truncated"]:
            warn(f"{row['file']}: {row['truncated_reason']}")
        if row["timestamps_synthesised"]:
            warn(f"{row['file']}: has no time stamps; times are made from its rate")
