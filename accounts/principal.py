"""Who is asking: a key, or a session of the cabinet, becomes the principal of one tenant."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.keys import CLIENT_PREFIX, Keyring
from store import accounts, space_access
from store.accounts import ApiKey, Tenant
from store.database import Connection
from store.errors import NotAuthenticated, NotPermitted
from store.operators import OWNER, ROLES
from store.sessions import Session


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller that proved a key, or whose browser has an open session of the cabinet: one of both is there."""

    tenant: Tenant
    key: ApiKey | None = None
    session: Session | None = None
    has_limited_spaces: bool = True  # unless it was seen that no space of the account is

    @property
    def tenant_id(self) -> str:
        return self.tenant.id

    @property
    def id(self) -> str:
        """Of the key or the session."""
        proof = self.key or self.session
        assert proof is not None
        return proof.id

    @property
    def key_id(self) -> str | None:
        return self.key.id if self.key is not None else None

    @property
    def actor(self) -> str:
        """As the audit log names it: "key sk_live_AbCdEf", "cabinet anna@shop.example", "cabinet"."""
        if self.key is not None:
            return f"key {self.key.prefix}"
        assert self.session is not None
        return self.session.actor

    @property
    def role(self) -> str:
        """A key may do what an owner may."""
        return self.session.role if self.key is None and self.session is not None else OWNER

    def has_role(self, role: str) -> bool:
        """Or a greater one: viewer, operator, owner."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def require_role(self, role: str) -> None:
        """Raises NotPermitted role_not_allowed for who has less than that role."""
        if not self.has_role(role):
            raise NotPermitted(f"This needs the role {role}; yours is {self.role}.", code="role_not_allowed")

    def require_active(self) -> None:
        """Raises NotPermitted client_inactive for a paused client."""
        if not self.tenant.is_active:
            raise NotPermitted("The client is paused.", code="client_inactive")

    def require_feature(self, feature: str) -> None:
        """Raises NotPermitted feature_disabled where the account lacks it."""
        assert feature in accounts.FEATURES
        if feature not in self.tenant.features:
            raise NotPermitted(f"The {feature} feature is not enabled for this account.", code="feature_disabled")


def authenticate(connection: Connection, keyring: Keyring, token: str | None) -> Principal:
    """The principal of a client key. Raises NotAuthenticated missing_api_key or invalid_api_key."""
    if not token:
        raise NotAuthenticated("No API key was sent.", code="missing_api_key")
    found = None
    # Partner secrets have prefixes of their own and are never looked up as client keys.
    if token.startswith(CLIENT_PREFIX) and len(token) < 200:
        found = space_access.find_caller(connection, keyring.hash(token))
    if found is None:
        raise NotAuthenticated("The API key is invalid or revoked.", code="invalid_api_key")
    key, tenant, has_limited_spaces = found
    return Principal(tenant=tenant, key=key, has_limited_spaces=has_limited_spaces)
