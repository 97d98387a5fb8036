import json

import jsonschema

from aml_contract.probe.schema import PATH
from tests.probe.measured import report


def test_a_document_follows_the_published_schema():
    schema = json.loads(PATH.read_text())
    jsonschema.validate(json.loads(report().model_dump_json()), schema)
    assert schema["$id"] == "urn:aml-contract:probe:1"
