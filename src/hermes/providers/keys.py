"""Keys of providers: from the environment or the system's keyring, never stored, shown or logged."""

from __future__ import annotations

from collections.abc import Callable

from hermes.config.records import secret
from hermes.errors import ModelError
from hermes.frozen import frozen
from hermes.providers.endpoints import Endpoint

SERVICE = "hermes"
"""The service under which keys lie in the system's keyring, each under its provider's name."""

Lookup = Callable[[str], str]
"""Gives a secret by name, or ""."""


@frozen
class Key:
    """A key and where it was found, such as `OPENAI_API_KEY`. It shows itself to nobody who prints it."""

    value: str
    found_in: str

    def __repr__(self) -> str:
        return f"Key({self.found_in!r})"

    __str__ = __repr__

    def hidden_in(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self.value, "…") if self.value else text


def find_key(endpoint: Endpoint, environment: Lookup = secret, keyring: Lookup | None = None) -> Key:
    """The key of a provider, empty where none is needed. ModelError when it is missing or cannot be one."""
    for name in endpoint.keys:
        if value := environment(name).strip():
            return _sound(Key(value, name))
    if value := (keyring or from_keyring)(endpoint.name).strip():
        return _sound(Key(value, "the keyring"))
    if not endpoint.keys:
        return Key("", "")
    raise ModelError(f"there is no key for {endpoint.name}; {remedy(endpoint)}", kind="auth")


def remedy(endpoint: Endpoint) -> str:
    """What to do for a key."""
    named = f"an environment variable and name that as providers.{endpoint.name}.key in config.yaml"
    variable = endpoint.keys[0] if endpoint.keys else named
    return f"put it into {variable}, or into the keyring: keyring set {SERVICE} {endpoint.name}"


def from_keyring(provider: str) -> str:
    """A key from the system's keyring; "" when there is none, or no keyring."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:  # an optional extra
        return ""
    try:
        return keyring.get_password(SERVICE, provider) or ""
    except KeyringError:
        return ""


def _sound(key: Key) -> Key:
    if key.value.isascii() and key.value.isprintable() and " " not in key.value:
        return key
    raise ModelError(f"the key in {key.found_in} holds characters that no key has; copy it anew", kind="auth")
