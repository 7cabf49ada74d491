"""A controller that speaks LE 1M with legacy advertising, and loses links properly."""

from __future__ import annotations

from bumble import hci, ll
from bumble.controller import Connection, Controller


class LowEnergyController(Controller):
    """What the adapter and the tags have in common beyond bumble's own controller."""

    le_acl_data_packet_length = 251
    total_num_le_acl_data_packets = 8
    supported_max_tx_octets = 251
    supported_max_rx_octets = 251
    suggested_max_tx_octets = 251
    # Without extended advertising: the host then uses the legacy commands, which the adapter here knows how to answer.
    le_features = (
        hci.LeFeatureMask.LE_ENCRYPTION | hci.LeFeatureMask.LE_PING | hci.LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION
    )

    def on_ll_control_pdu(self, sender_address: hci.Address, packet: ll.ControlPdu) -> None:
        """Takes what the other link layer says, unless the link has gone while it was under way."""
        if sender_address in self.le_connections:
            super().on_ll_control_pdu(sender_address, packet)

    def lose(self, connection: Connection) -> None:
        """Ends a link as the supervision timeout does, unless it has ended by itself."""
        if self.le_connections.get(connection.peer_address) is connection:
            self.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    def on_hci_disconnect_command(self, command: hci.HCI_Disconnect_Command) -> None:
        """Ends a link. Bumble tells its own host the reason that is meant for the other side."""
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is None:
            unknown = hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
            self._send_hci_command_status(unknown, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        connection.send_ll_control_pdu(ll.TerminateInd(command.reason))
        self.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR)
