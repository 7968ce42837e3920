// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// An ERC-721 in the manner of ERC-721A: one mint writes one storage slot and logs one range (EIP-2309); the owner of an
/// id stands in the nearest slot below that was written.
contract WalkingNft {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event ConsecutiveTransfer(
        uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress
    );

    string public constant name = "Walking";
    string public constant symbol = "WALK";
    uint256 private immutable first;
    uint256 private immutable last;
    mapping(uint256 => address) private ownerAt;
    mapping(address => uint256) public balanceOf;

    constructor(address to, uint256 first_, uint256 last_) {
        (first, last) = (first_, last_);
        ownerAt[first_] = to;
        balanceOf[to] = last_ - first_ + 1;
        emit ConsecutiveTransfer(first_, last_, address(0), to);
    }

    function ownerOf(uint256 id) public view returns (address owner) {
        require(id >= first && id <= last, "no such id");
        while ((owner = ownerAt[id]) == address(0)) id--;
    }

    function transfer(address to, uint256 id) external {
        address from = take(id, id, to);
        emit Transfer(from, to, id);
    }

    function transferRange(address to, uint256 from_, uint256 to_) external {
        address from = take(from_, to_, to);
        emit ConsecutiveTransfer(from_, to_, from, to);
    }

    function tokenURI(uint256) external pure returns (string memory) {
        return "";
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x80ac58cd || id == 0x01ffc9a7;
    }

    /// Every id from `low` to `high` must belong to the sender, in one stretch without a slot of its own.
    function take(uint256 low, uint256 high, address to) private returns (address from) {
        from = ownerOf(low);
        require(from == msg.sender, "not the owner");
        for (uint256 id = low + 1; id <= high; id++) require(ownerAt[id] == address(0), "not in one stretch");
        if (high < last && ownerAt[high + 1] == address(0)) ownerAt[high + 1] = from;
        ownerAt[low] = to;
        balanceOf[from] -= high - low + 1;
        balanceOf[to] += high - low + 1;
    }
}
