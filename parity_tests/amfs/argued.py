"""What callers look up on an adapter and ours does not have, each with the reason."""

from collections.abc import Mapping
from types import MappingProxyType

OF_THE_HOSTED_SERVICE: Mapping[str, str] = MappingProxyType(
    {
        "_base_url": "the address of a hosted server, for rooms that only it has",
        "_headers": "what is sent to a hosted server",
        "_session": "the connection to a hosted server",
        "_last_memory_gap": "what a hosted server said is missing",
        "_last_retrieve_meta": "what a hosted server said beside a retrieval",
        "_last_reuse_value": "what a hosted server said reuse was worth",
        "_last_scope": "what a hosted server said of the scope",
        "briefing": "a hosted server's own; here the SDK makes one from the digests",
        "declare_situation": "told to a hosted server for its canaries",
        "remote_learning": "whether a hosted server learns; here the SDK does",
        "retrieve": "a hosted server's own ranking; here the SDK ranks what search finds",
        "server_side_write_events": "whether a hosted server logs writes; here the SDK does",
    }
)
OF_POSTGRES: Mapping[str, str] = MappingProxyType(
    {
        "_get_current_account_id": "whose row it is, where one database serves several accounts",
        "_pool": "the connections to the database",
    }
)
OF_THE_SERVER: Mapping[str, str] = MappingProxyType(
    {
        "_embedder": "what the server gives an adapter that has a place for one; the SDK embeds by itself",
        "_namespace": "looked for with a default; ours is called namespace",
        "bind": "who speaks, for what is sent to a server; nothing is sent here",
    }
)
ARGUED: Mapping[str, str] = MappingProxyType({**OF_THE_HOSTED_SERVICE, **OF_POSTGRES, **OF_THE_SERVER})
