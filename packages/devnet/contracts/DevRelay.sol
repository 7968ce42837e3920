// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface ITransferFrom {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Moves value on behalf of its caller, or refuses: the source of internal transfers, of several token
/// transfers in one transaction, and of transactions and creations that fail.
contract DevRelay {
    error Refused(string reason);

    event Relayed(address indexed from, address indexed to, uint256 amount);

    constructor(bool refuse) payable {
        if (refuse) revert Refused("creation refused");
    }

    receive() external payable {}

    function forward(address payable to) external payable {
        (bool ok,) = to.call{value: msg.value}("");
        if (!ok) revert Refused("receiver refused");
        emit Relayed(msg.sender, to, msg.value);
    }

    function pay(ITransferFrom token, address[] calldata to, uint256[] calldata amounts) external {
        for (uint256 i = 0; i < to.length; i++) {
            token.transferFrom(msg.sender, to[i], amounts[i]);
        }
    }

    /// The transfers really run and log before everything is undone.
    function payThenFail(ITransferFrom token, address to, uint256 amount) external {
        token.transferFrom(msg.sender, to, amount);
        revert Refused("after the transfer");
    }

    function fail() external payable {
        revert Refused("asked to fail");
    }
}
