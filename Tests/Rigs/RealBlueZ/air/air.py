"""The simulated air: what one controller sends reaches those that are in range of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bumble import hci, ll
from bumble.controller import Controller
from bumble.core import PhysicalTransport
from bumble.link import LocalLink

if TYPE_CHECKING:
    from adapter import Adapter


class Air(LocalLink):
    """Joins the adapters and any number of tags."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.adapters: dict[str, Adapter] = {}
        # The pairs of an adapter and a tag that don't receive each other.
        self.apart: set[frozenset[Controller]] = set()

    def send_acl_data(
        self,
        sender_controller: Controller,
        destination_address: hci.Address,
        transport: PhysicalTransport,
        data: bytes,
    ) -> None:
        """Carries data. Bumble takes the sender's random address for its source; an adapter uses its public one."""
        receiver = self.find_le_controller(destination_address)
        connection = sender_controller.le_connections.get(destination_address)
        if receiver is None or connection is None:
            return
        self._deliver(sender_controller, receiver, receiver.on_link_acl_data, connection.self_address, transport, data)

    def send_advertising_pdu(self, sender_controller: Controller, packet: ll.AdvertisingPdu) -> None:
        """Shows an advertisement to the adapters, or a connection request to the tag that it is for."""
        if isinstance(packet, ll.ConnectInd):
            tag = self.find_le_controller(packet.advertiser_address)
            if tag is not None:
                self._deliver(sender_controller, tag, tag.on_ll_advertising_pdu, packet)
            return
        for adapter in self.adapters.values():
            self._deliver(sender_controller, adapter, adapter.hear, sender_controller, packet)

    def send_ll_control_pdu(
        self, sender_address: hci.Address, receiver_address: hci.Address, packet: ll.ControlPdu
    ) -> None:
        """Carries what the link layers say to each other; bumble fails where a link has gone meanwhile."""
        sender = self.find_le_controller(sender_address)
        receiver = self.find_le_controller(receiver_address)
        if sender is not None and receiver is not None:
            self._deliver(sender, receiver, receiver.on_ll_control_pdu, sender_address, packet)

    def _deliver(
        self, sender: Controller, receiver: Controller, function: Callable[..., None], *arguments: Any
    ) -> None:
        if frozenset((sender, receiver)) not in self.apart:
            asyncio.get_running_loop().call_soon(function, *arguments)
