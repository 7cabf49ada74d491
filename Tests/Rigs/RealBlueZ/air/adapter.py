"""An adapter: a controller that the guest's kernel drives through a serial line (H4)."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import Callable

from bumble import hci, ll
from bumble.controller import Connection, Controller
from bumble.snoop import BtSnooper, Snooper
from bumble.transport.common import AsyncPacketReader

from air import Air
from low_energy import LowEnergyController

# How long a link lasts without a sign of the other side. The host asks for 20 s or 42 s; a test need not wait so long.
SUPERVISION_TIMEOUT = 2.0
# An unchanged advertisement is reported again after so many seconds although the host asks to filter duplicates:
# controllers' filters forget, and a host that relied on one report a scan would miss a tag that comes back.
DUPLICATE_MEMORY = 1.0


class Adapter(LowEnergyController):
    """Adds what Linux relies on and bumble leaves out: scan responses, the accept list, the duplicate filter,
    cancelled connections and reset."""

    def __init__(self, air: Air, name: str, address: str, record: pathlib.Path) -> None:
        """`record`: the file for the traffic with the guest, in the format of btsnoop."""
        super().__init__(name, link=air, public_address=address)
        self.air = air
        self.record = record
        air.adapters[name] = self
        self.accept_list: set[bytes] = set()
        self.reported: dict[tuple[int, bytes, bytes], float] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speaks H4 with the guest until its end, and records it."""
        directions = Snooper.Direction
        with self.record.open("wb") as output:
            snooper = BtSnooper(output)
            self.set_packet_sink(_Sink(writer, lambda packet: snooper.snoop(packet, directions.CONTROLLER_TO_HOST)))
            packets = AsyncPacketReader(reader)
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    packet = await packets.next_packet()
                    snooper.snoop(packet, directions.HOST_TO_CONTROLLER)
                    self.on_packet(packet)
            self.set_packet_sink(None)

    def unplug(self) -> None:
        """Forgets everything, as without power; the tags notice it when the timeout of their links is over."""
        for tag, link in self._forget_all():
            asyncio.get_running_loop().call_later(SUPERVISION_TIMEOUT, tag.lose, link)

    def _forget_all(self) -> list[tuple[LowEnergyController, Connection]]:
        """Forgets links, scan and lists. Returns the links as the tags see them."""
        ends = []
        for connection in list(self.le_connections.values()):
            tag = self.air.find_le_controller(connection.peer_address)
            del self.le_connections[connection.peer_address]
            if isinstance(tag, LowEnergyController) and connection.self_address in tag.le_connections:
                ends.append((tag, tag.le_connections[connection.self_address]))
        self.le_scan_enable = False
        self.pending_le_connection = None
        self.accept_list.clear()
        self.reported.clear()
        return ends

    # Commands of the host

    def on_hci_reset_command(self, command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        """Forgets everything; the tags find out at once."""
        for tag, link in self._forget_all():
            tag.lose(link)
        return super().on_hci_reset_command(command)

    def on_hci_le_set_scan_enable_command(
        self, command: hci.HCI_LE_Set_Scan_Enable_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Starts or ends a scan, and with it the memory of the duplicate filter."""
        self.reported.clear()
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_clear_filter_accept_list_command(
        self, command: hci.HCI_LE_Clear_Filter_Accept_List_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Empties the accept list."""
        self.accept_list.clear()
        return super().on_hci_le_clear_filter_accept_list_command(command)

    def on_hci_le_add_device_to_filter_accept_list_command(
        self, command: hci.HCI_LE_Add_Device_To_Filter_Accept_List_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Adds to the accept list."""
        self.accept_list.add(bytes(command.address))
        return super().on_hci_le_add_device_to_filter_accept_list_command(command)

    def on_hci_le_remove_device_from_filter_accept_list_command(
        self, command: hci.HCI_LE_Remove_Device_From_Filter_Accept_List_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Takes from the accept list."""
        self.accept_list.discard(bytes(command.address))
        return super().on_hci_le_remove_device_from_filter_accept_list_command(command)

    def on_hci_le_create_connection_cancel_command(
        self, command: hci.HCI_LE_Create_Connection_Cancel_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Gives up the connection under way, and says so with the event that the host waits for."""
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        cancelled = hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            connection_handle=0,
            role=hci.Role.CENTRAL,
            peer_address_type=pending.peer_address.address_type,
            peer_address=pending.peer_address,
            connection_interval=0,
            peripheral_latency=0,
            supervision_timeout=0,
            central_clock_accuracy=0,
        )
        asyncio.get_running_loop().call_soon(self.send_hci_packet, cancelled)
        return super().on_hci_le_create_connection_cancel_command(command)

    # What is heard on the air

    def hear(self, sender: Controller, packet: ll.AdvInd) -> None:
        """Takes an advertisement: reports it while scanning, connects where the host waits for that tag."""
        address = packet.advertiser_address
        is_accepted = bytes(address) in self.accept_list
        if self.le_scan_enable and (is_accepted or not self.le_scanning_filter_policy & 1):
            kinds = hci.HCI_LE_Advertising_Report_Event.EventType
            self._report(kinds.ADV_IND, address, packet.data)
            is_active_scan = self.le_scan_type == 1
            if is_active_scan:
                self._report(kinds.SCAN_RSP, address, sender.le_legacy_advertiser.scan_response_data)
        pending = self.pending_le_connection
        if pending is None or address in self.le_connections:
            return
        if pending.initiator_filter_policy & 1 and is_accepted:
            pending.peer_address = address
        if pending.peer_address == address:
            self.create_le_connection(address)

    def _report(self, kind: int, address: hci.Address, data: bytes) -> None:
        now = asyncio.get_running_loop().time()
        mark = (kind, bytes(address), bytes(data))
        if self.filter_duplicates and now - self.reported.get(mark, -DUPLICATE_MEMORY) < DUPLICATE_MEMORY:
            return
        self.reported[mark] = now
        report = hci.HCI_LE_Advertising_Report_Event.Report(
            event_type=kind, address_type=address.address_type, address=address, data=bytes(data), rssi=-60
        )
        self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([report]))


class _Sink:
    """Where the controller's packets to the guest go."""

    def __init__(self, writer: asyncio.StreamWriter, snoop: Callable[[bytes], None]) -> None:
        self.writer = writer
        self.snoop = snoop

    def on_packet(self, packet: bytes) -> None:
        """Records a packet and sends it."""
        self.snoop(packet)
        self.writer.write(packet)
