import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from streams.malicious import attempts, limit_memory

limit_memory(8_000_000_000)
with tempfile.TemporaryDirectory() as folder:
    for attempt in attempts(Path(folder)):
        print(json.dumps(asdict(attempt)), flush=True)
