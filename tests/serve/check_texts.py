"""Validates what the server says of itself: check_texts.py openapi.json metrics (tests/requirements-serve.txt)."""
import json
import pathlib
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator
from prometheus_client.parser import text_string_to_metric_families

OpenAPIV31SpecValidator(json.loads(pathlib.Path(sys.argv[1]).read_text())).validate()
families = {f.name: f for f in text_string_to_metric_families(pathlib.Path(sys.argv[2]).read_text())}
for family in families.values():
    print(family.name, family.type, len(family.samples))
