"""The same sessions on the SDK's own adapter and on ours; the answers must be the same, or argued."""
