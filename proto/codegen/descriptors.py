"""The compiled contract: what protoc makes of the files, and the options read from it."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PROTO_ROOT = Path(__file__).resolve().parent.parent
MEMORY_PROTO = "aml/memory/v1/memory.proto"
ANNOTATIONS_PACKAGE = "aml.contract.v1"
ANNOTATIONS_PROTO = "aml/contract/v1/annotations.proto"


def protoc(*arguments: str) -> None:
    """Run the protobuf compiler.

    Raises:
        subprocess.CalledProcessError: it refused; its words went to standard error.
    """
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *arguments], check=True)


def compile_contract(root: Path = PROTO_ROOT) -> descriptor_pb2.FileDescriptorSet:
    """The descriptors of the contract and of all that it imports, comments included."""
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / "contract.binpb"
        protoc(
            f"-I{root}",
            "--include_imports",
            "--include_source_info",
            f"--descriptor_set_out={target}",
            MEMORY_PROTO,
        )
        return descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())


class Options:
    """The contract's own options on services, methods, messages and fields."""

    def __init__(self, files: descriptor_pb2.FileDescriptorSet) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self._pool.Add(file)

    def read(self, holder: Any, extension: str) -> Any:
        """The option ``extension`` of a descriptor; its defaults where it is not set.

        The descriptor's options are parsed anew with this pool, where the extension is known:
        so the annotations need no generated module.
        """
        found = self._pool.FindExtensionByName(f"{ANNOTATIONS_PACKAGE}.{extension}")
        extended = found.containing_type
        if extended is None:
            raise TypeError(f"{extension} is no extension")
        known = message_factory.GetMessageClass(extended)
        options: Any = known.FromString(holder.options.SerializeToString())
        return options.Extensions[found]


class Comments:
    """The comments of one file, found by the place of what they describe."""

    def __init__(self, file: descriptor_pb2.FileDescriptorProto) -> None:
        self._by_path = {
            tuple(location.path): location.leading_comments
            for location in file.source_code_info.location
            if location.leading_comments
        }

    def at(self, *path: int) -> str:
        """The comment as paragraphs of one line each, parted by empty lines; or empty."""
        text = self._by_path.get(path, "")
        paragraphs = re.split(r"\n\s*\n", text.strip())
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
