"""Ray Data: a function for `Dataset.map_batches`. `map(…, engine="ray")` needs nothing of this.

```python no-run
from interlingua.ray import mapper

answers = dataset.map_batches(mapper("openai/gpt-5.6", column="text"), batch_format="pandas", batch_size=1000)
```
"""

from interlingua.client.cluster.frames import Mapper, mapper

__all__ = ["Mapper", "mapper"]
