"""What a configuration is: its values, and the content of every file that it names."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel

from lcca.inputs.named_files import digests_of_named_files


def config_hash(config: BaseModel, **further: Any) -> str:
    """Return twelve hex digits that name a configuration and all that its result depends on.

    Args:
        config: its values, and the content of files that they name.
        further: JSON values that the configuration's own do not tell.

    Raises:
        InputError: a file that it names cannot be read.
    """
    files = digests_of_named_files(config)
    content = config.model_dump(mode="json") | further | ({"files": files} if files else {})
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
