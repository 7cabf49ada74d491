import JacquardProtocol
import MQTTTypes

// MARK: Commands to groups

extension BridgeState {
    /// The filters of commands to groups; none without groups.
    var groupFilters: [String] { groups.isEmpty ? [] : topics.groupFilters }

    /// Handles a command to a group: as the same command to each of its tags.
    ///
    /// Another bridge can have the same group and serves its own tags of it. A group that this bridge does not have is
    /// ignored.
    mutating func groupCommand(
        _ name: String, to group: ExactText, _ message: MQTTMessage, at now: Timestamp
    ) -> [BridgeAction] {
        groups.tags(of: group).flatMap { tag in
            let topic = topics.tag(tag).command(name)
            guard case .command(let address) = topics.subject(of: topic) else { return [BridgeAction]() }
            let member = GroupMember(group: group, tag: ExactText(tag.text))
            return command(address, message, as: member, at: now)
        }
    }

    /// Throws if a command to a group cannot be executed for one of its tags.
    ///
    /// - Throws: `unknown_command` for a command that is for one tag only; `unknown_tag` if the tag belongs to a bridge
    ///   that does not have it in this group and has ignored the command.
    func check(_ member: GroupMember, at position: Int?, for address: CommandAddress) throws(CommandFailure) {
        guard !Self.commandsForOneTag.contains(address.name) else {
            throw CommandFailure(
                .unknownCommand, "\(address.name.quoted) is for one tag, not for a group",
                hint: "Send it to the topic of the tag")
        }
        if let position, !isConnectedElsewhere(position) { return }
        if let failure = failureElsewhere(of: member) { throw failure }
    }

    /// Returns why another bridge, which has the tag of a pending command to a group, does not execute it; nil if it does.
    func failureElsewhere(of command: PendingCommand) -> CommandFailure? {
        command.requesters.first?.member.flatMap { failureElsewhere(of: $0) }
    }

    private func failureElsewhere(of member: GroupMember) -> CommandFailure? {
        let tag = member.tag.text
        guard !peers.isConnected(to: tag, as: member), let owner = peers.owner(of: tag) else { return nil }
        return CommandFailure(
            .unknownTag,
            "Tag \(tag) belongs to the bridge \(owner.quoted), which does not have it in the group \(member.group.text.quoted)",
            hint: "Add the group to the configuration of that bridge")
    }

    /// The commands that make no sense for several tags.
    private static let commandsForOneTag = [NameSet.name]

    /// Uses the groups of a changed configuration.
    mutating func groupsChanged() -> [BridgeAction] {
        let wasEmpty = groups.isEmpty
        groups = GroupTable(configuration.groups)
        let subscriptions: [BridgeAction] =
            switch (wasEmpty, groups.isEmpty) {
            case (true, false): [.subscribe(topics.groupFilters)]
            case (false, true): [.unsubscribe(topics.groupFilters)]
            default: []
            }
        return subscriptions + publish([infoFact])
    }
}
