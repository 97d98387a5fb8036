"""The protobuf and gRPC stubs, as protoc writes them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2

from codegen.descriptors import ANNOTATIONS_PROTO, MEMORY_PROTO, protoc

_PACKAGE_IMPORT = "from aml.memory.v1 import memory_pb2 as"
_OUR_IMPORT = "from aml_sdk._gen import memory_pb2 as"
_FILES = ("memory_pb2.py", "memory_pb2.pyi", "memory_pb2_grpc.py")


def stubs(files: descriptor_pb2.FileDescriptorSet) -> dict[str, str]:
    """The text of each file by its name; they import each other from ``aml_sdk._gen``."""
    with tempfile.TemporaryDirectory() as directory:
        plain = Path(directory) / "plain.binpb"
        plain.write_bytes(_without_annotations(files).SerializeToString(deterministic=True))
        protoc(
            f"--descriptor_set_in={plain}",
            f"--python_out={directory}",
            f"--pyi_out={directory}",
            f"--grpc_python_out={directory}",
            MEMORY_PROTO,
        )
        written = (Path(directory) / MEMORY_PROTO).parent
        return {
            name: (written / name).read_text("utf-8").replace(_PACKAGE_IMPORT, _OUR_IMPORT)
            for name in _FILES
        }


def _without_annotations(
    files: descriptor_pb2.FileDescriptorSet,
) -> descriptor_pb2.FileDescriptorSet:
    """The contract's file alone, without our options.

    The options say how JSON looks, which nobody asks a stub; with them every user would load
    extensions whose numbers may meet those of others.
    """
    plain = descriptor_pb2.FileDescriptorProto()
    plain.CopyFrom(next(file for file in files.file if file.name == MEMORY_PROTO))
    plain.dependency.remove(ANNOTATIONS_PROTO)
    for service in plain.service:
        service.ClearField("options")
        for method in service.method:
            method.ClearField("options")
    for message in plain.message_type:
        message.ClearField("options")
        for field in message.field:
            field.ClearField("options")
    return descriptor_pb2.FileDescriptorSet(file=[plain])
