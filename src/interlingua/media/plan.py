"""The plan for the media of one request for one target, made from headers; and doing it.

Rules
- A plan decodes nothing and takes microseconds an image; `run` does the work, and belongs into a worker.
- Everything that is found is told at once; a refusal names each part.
- Images inside of tool results count, and are converted like all others.
- Too many images are refused; where images may be let go, the oldest become a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from interlingua.errors import UnsupportedError, UsageError
from interlingua.media._kept import KeptImages
from interlingua.media._places import media_of, with_media
from interlingua.media.convert import can_convert, convert
from interlingua.media.need import FULL, header_of, need_of, plain_type
from interlingua.media.sniff import sniff
from interlingua.providers.media_limits import media_limits
from interlingua.types.change import Changes
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, TextPart

if TYPE_CHECKING:
    from interlingua.media._places import Media, Place
    from interlingua.media.convert import Converted
    from interlingua.media.need import Need, Recipe
    from interlingua.providers.media_limits import MediaLimits
    from interlingua.registry.endpoint import Endpoint
    from interlingua.types.capability import Capability
    from interlingua.types.change import Change
    from interlingua.types.request import Request

__all__ = ["MAX_MEDIA_PARTS", "MediaPlan", "make_plan"]

MAX_MEDIA_PARTS = 4_000
"""The most images, sounds and documents in one request."""
NO_TYPE = "application/octet-stream"
"""A media type that says nothing."""
REST_BYTES = 65_536
"""The part of a request's size for everything but media."""
INSTALL = "the [media] extra, which would convert it, is not installed: pip install 'interlingua[media]'"

_KEPT = KeptImages()
"""The converted images that this process keeps."""


class _Task(NamedTuple):
    """One image that is to be converted."""

    place: Place
    part: ImagePart
    need: Need


class MediaPlan:
    """The plan for the media of one request."""

    __slots__ = ("_changes", "_limits", "_request", "_spec", "_swaps", "_tasks")

    def __init__(
        self,
        request: Request,
        *,
        spec: str,
        limits: MediaLimits,
        changes: Changes,
        swaps: dict[Place, Media | TextPart],
        tasks: list[_Task],
    ) -> None:
        """Made by `make_plan`."""
        self._request = request
        self._spec = spec
        self._limits = limits
        self._changes = changes
        self._swaps = swaps
        self._tasks = tasks

    @property
    def heavy(self) -> bool:
        """Whether images are decoded and written: milliseconds to seconds of a worker; else `run` is instant."""
        return bool(self._tasks)

    def run(self) -> tuple[Request, tuple[Change, ...]]:
        """The request with media that the target takes, and what was changed; may be called again, from any thread.

        Raises: UnsupportedError for an image that cannot be decoded or brought under the limits, and has to be.
        """
        changes = Changes(self._changes.dialect, "media", self._changes.allow)
        changes.entries.extend(self._changes.entries)
        swaps = dict(self._swaps)
        done = {task.place: self._converted(task, task.need.recipe) for task in self._tasks}
        self._fit_together(done, swaps)
        for task in self._tasks:
            converted = done[task.place]
            if converted is None:
                changes.add("image_as_given", task.place.path, "it cannot be decoded here")
                continue
            swaps[task.place] = replace(task.part, data=converted.data, media_type=converted.media_type)
            for code, detail in converted.entries:
                # A full image that the caller asked for has a code of its own.
                is_full = code == "image_resized" and task.part.detail in FULL
                changes.add("detail_adjusted" if is_full else code, task.place.path, detail)
        messages = with_media(self._request.messages, swaps)
        return replace(self._request, messages=messages), changes.done()

    def _converted(self, task: _Task, recipe: Recipe) -> Converted | None:
        """The image as the recipe wants it; None where it cannot be decoded, and the target may take it as it is.

        Raises: UnsupportedError where it cannot be converted, and has to be.
        """

        def work() -> Converted:
            return convert(task.part.data, task.need.header, recipe)

        try:
            return _KEPT.get(task.part.data, recipe, work)
        except UsageError as error:
            if not task.need.must:
                return None
            raise _refusal(self._spec, task.place.path, error.message) from error

    def _fit_together(self, done: dict[Place, Converted | None], swaps: dict[Place, Media | TextPart]) -> None:
        """Compress converted images harder where all media together are too large for one request.

        Raises: UnsupportedError where that is not enough.
        """
        most = _room_of(self._limits)
        if most is None:
            return
        sizes = {place: part.size_bytes for place, part in media_of(with_media(self._request.messages, swaps))}
        sizes |= {place: len(converted.data) for place, converted in done.items() if converted is not None}
        total = sum(sizes.values())
        if total <= most:
            return
        large = [task for task in self._tasks if done[task.place] and sizes[task.place] > most // len(sizes)]
        share = (sum(sizes[task.place] for task in large) + most - total) // max(1, len(large))
        if share < _MIN_SHARE_BYTES:
            raise _too_large(self._spec, len(sizes), total, most)
        for task in large:
            done[task.place] = self._converted(task, task.need.recipe._replace(max_bytes=share))


_MIN_SHARE_BYTES = 20_000
"""An image is not made smaller than this for the sake of others."""


def _room_of(limits: MediaLimits) -> int | None:
    """How many bytes of media, as files, one request has room for in base64."""
    return None if limits.max_request_bytes is None else (limits.max_request_bytes - REST_BYTES) * 3 // 4


def _too_large(spec: str, count: int, size: int, most: int) -> UnsupportedError:
    detail = f"{count} media parts have {size:,} bytes together, and one request has room for {most:,}"
    return _refusal(spec, "/messages", detail)


def _refusal(spec: str, path: str, detail: str) -> UnsupportedError:
    changes = Changes("", "media")
    changes.add("images", path, detail)
    return UnsupportedError(f"{spec} cannot take {path} ({detail})", changes=changes.refused())


# Making a plan


def make_plan(request: Request, endpoint: Endpoint, allow: frozenset[Capability]) -> MediaPlan | None:
    """The plan for a request that holds media; None where they can go as they are.

    Raises: UnsupportedError, UsageError.
    """
    planner = _Planner(request, endpoint, allow)
    planner.look()
    refused = planner.changes.refused()
    if refused:
        refusals = "; ".join(f"{change.path} ({change.detail})" for change in refused)
        raise UnsupportedError(f"{endpoint.spec} cannot take {refusals}", changes=refused)
    if not planner.swaps and not planner.tasks and not planner.changes.entries:
        return None
    return MediaPlan(
        request,
        spec=endpoint.spec,
        limits=planner.limits,
        changes=planner.changes,
        swaps=planner.swaps,
        tasks=planner.tasks,
    )


class _Planner:
    """The look at every media part of one request."""

    def __init__(self, request: Request, endpoint: Endpoint, allow: frozenset[Capability]) -> None:
        self.limits = media_limits(endpoint.family, endpoint.model)
        self.changes = Changes(endpoint.dialect, "media", allow)
        self.swaps: dict[Place, Media | TextPart] = {}
        self.tasks: list[_Task] = []
        self._needs: dict[Place, tuple[ImagePart, Need]] = {}
        self._facts = endpoint.target.facts
        self._spec = endpoint.spec
        self._media = list(media_of(request.messages))

    def look(self) -> None:
        """Find everything that is to be done."""
        if len(self._media) > MAX_MEDIA_PARTS:
            count = len(self._media)
            raise UsageError(f"/messages: {count:,} media parts, and {MAX_MEDIA_PARTS:,} are the most of one request")
        images = [place for place, part in self._media if type(part) is ImagePart]
        counted = self._counted(images)
        crowd = self.limits.crowd
        most_px = crowd[1] if crowd is not None and len(counted) > crowd[0] else self.limits.max_side_px
        for place, part in self._media:
            match part:
                case ImagePart():
                    if place not in self.swaps:
                        self._look_at_image(place, part, most_px)
                case DocumentPart():
                    self._look_at_document(place, part)
                case AudioPart():
                    _not_empty(place, part)
                    types = self.limits.audio_types
                    is_refused = types is not None and plain_type(part.media_type) not in types
                    if is_refused and self._facts.audio is not False:
                        self._leave_out("audio", place, f"{part.media_type} is not taken")
        # All images are converted where the media are too large together for one request.
        most = _room_of(self.limits)
        sizes = [part.size_bytes for place, part in self._media if not isinstance(self.swaps.get(place), TextPart)]
        if most is None or sum(sizes) <= most:
            return
        planned = {task.place for task in self.tasks}
        self.tasks += [
            _Task(place, part, need)
            for place, (part, need) in self._needs.items()
            if place not in planned and part.sealed is None and can_convert(need.header.media_type)
        ]
        if not self.tasks:
            raise _too_large(self._spec, len(sizes), sum(sizes), most)

    def _counted(self, images: list[Place]) -> list[Place]:
        """The images that stay; the oldest are too many."""
        most = self.limits.max_images
        if most is None or len(images) <= most:
            return images
        detail = f"{len(images)} images, and {most} are the most in one request"
        for place in images[: len(images) - most]:
            self._leave_out("images", place, detail)
        return images[len(images) - most :]

    def _leave_out(self, code: Capability, place: Place, detail: str) -> None:
        """Refuse a part, or leave a note in its place where such parts may be let go."""
        self.changes.add(code, place.path, detail)
        noun = {"images": "image", "audio": "sound"}.get(code, "document")
        self.swaps[place] = TextPart(f"[{noun} left out: {detail}]")

    def _look_at_image(self, place: Place, part: ImagePart, most_px: int | None) -> None:
        header = header_of(part, place.path)
        if self._facts.images is False:
            return  # the encoder refuses it, or lets it go
        if header is None:
            self._leave_out("images", place, f"{part.media_type} is not taken, and not known here")
            return
        need = need_of(part, header, self.limits, most_px)
        self._needs[place] = part, need
        if header.media_type != part.media_type:
            self._correct(place, part, header.media_type)
        if (need.must or need.should) and can_convert(header.media_type):
            self.tasks.append(_Task(place, part, need))
        elif need.must:
            self._leave_out("images", place, f"{_why(need, part, self.limits)}, and {INSTALL}")
        elif need.seen_otherwise:
            self.changes.add("image_as_given", place.path, INSTALL)

    def _correct(self, place: Place, part: ImagePart | DocumentPart, media_type: str) -> None:
        """Say the media type that the bytes have; another spelling of the same one needs no entry."""
        if plain_type(part.media_type) != media_type:
            self.changes.add("media_type_corrected", f"{place.path}/media_type", f"{part.media_type} is {media_type}")
        self.swaps[place] = replace(part, media_type=media_type)

    def _look_at_document(self, place: Place, part: DocumentPart) -> None:
        own_type = _not_empty(place, part)
        types, most = self.limits.document_types, self.limits.max_document_bytes
        kind = plain_type(part.media_type)
        if kind == NO_TYPE and own_type is not None:
            self._correct(place, part, own_type)
            kind = own_type
        if own_type is not None and own_type != kind and kind == "application/pdf":
            raise UsageError(f"{place.path}: the document is said to be {kind}, and its bytes are {own_type}")
        if self._facts.documents is False:
            return
        is_text = kind.startswith("text/") or own_type == "text/plain"
        if types is not None and kind not in types and not is_text:
            self._leave_out("documents", place, f"{part.media_type} is not taken")
        elif types is not None and kind not in types and not kind.startswith("text/"):
            self.changes.add("media_as_text", place.path, f"{kind} is sent as text/plain")
            self.swaps[place] = replace(part, media_type="text/plain")
        elif most is not None and part.size_bytes > most:
            self._leave_out("documents", place, f"{part.size_bytes:,} bytes, and {most:,} are the most of a document")


def _not_empty(place: Place, part: Media) -> str | None:
    """The kind of a file's bytes; None where nobody knows.

    Raises: UsageError for an empty one.
    """
    data = part.data
    if not data:
        raise UsageError(f"{place.path}: the file is empty")
    sniffed = sniff(data)
    return None if sniffed is None else sniffed.media_type


def _why(need: Need, part: ImagePart, limits: MediaLimits) -> str:
    """Why an image cannot go as it is."""
    header = need.header
    if header.media_type not in limits.image_types:
        return f"{header.media_type} is not taken"
    if header.animated and limits.animated is False:
        return "animated images are not taken"
    if need.recipe.max_bytes is not None and part.size_bytes > need.recipe.max_bytes:
        return f"{part.size_bytes:,} bytes, and {need.recipe.max_bytes:,} are the most of an image"
    return f"{header.width:,} x {header.height:,} pixels are too many"
